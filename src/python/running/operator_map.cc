// The map between operators and kernels.
#include <algorithm>

#include "baton/driver/build.h"
#include "baton/driver/fused_module.h"
#include "baton/driver/origins/record_json.h"
#include "baton/support/error.h"
#include "baton/support/json.h"

#include "python/bind.h"

namespace baton::python {

namespace {

Json rows(const OperatorMap& map) {
  Json list = Json::array();
  for (const OperatorRecord& record : map.operators()) list.push_back(to_json(record, RecordForm::kExplain));
  return list;
}

std::vector<uint32_t> ids_of(const BuildResult& built, const Expr& expr) {
  std::vector<uint32_t> ids;
  if (expr->origins().origins().empty())
    throw Error("no operator: a call of one was expected, or what a pass made of it");
  for (const Origin* origin : expr->origins().origins()) {
    const auto id = built.optimized->origins().find(origin);
    if (!id) throw Error("`" + origin->op() + "` is no operator of the program that was built");
    ids.push_back(index(*id));
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace

void bind_operator_map(nb::module_& m) {
  nb::class_<OperatorMap>(m, "OperatorMap", "Which operators the nodes of graph.json compute, and back.")
      .def("rows", &rows, "All operators by id: docs/design/0009-explain-json.md.")
      .def(
          "of_kernel",
          [](const OperatorMap& map, const std::string& name) {
            return map.operators_of(map.nodes_of_kernel(name));
          },
          nb::arg("name"),
          "Ids of the operators that the kernel of that func_name, or the node of that name, computes.")
      .def(
          "of_node",
          [](const OperatorMap& map, const std::string& node) {
            const uint32_t id = map.node(node);
            map.kernel_node(id);
            return map.operators_of({id});
          },
          nb::arg("node"), "Ids of the operators that the node of that number or name computes.")
      .def(
          "nodes_of", [](const OperatorMap& map, uint32_t id) { return map.at(id).nodes; }, nb::arg("id"))
      .def("kernels_of", &OperatorMap::kernels_of, nb::arg("id"));
  m.def("operator_map", &operator_map, nb::arg("built"));
  m.def("operator_ids", &ids_of, nb::arg("built"), nb::arg("expr"),
        "Ids of the operators of the source that `expr` stands for.");
  m.def(
      "fused_mod", [](const BuildResult& built) { return fused_module(built.optimized, built.plan); },
      nb::arg("built"), "The module as it was lowered, its functions named as the kernels of graph.json.");
}

}  // namespace baton::python
