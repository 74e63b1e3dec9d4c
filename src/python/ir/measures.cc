// relay.analysis functions on networks: counts, call graphs, annotated regions, extraction of parts.
#include "baton/ir/analysis/measures.h"

#include "baton/byoc/regions.h"
#include "baton/ir/analysis/call_graph.h"
#include "baton/ir/visit.h"
#include "baton/transform/bind.h"
#include "baton/transform/constant_value.h"
#include "baton/transform/extract.h"

#include "python/bind.h"
#include "python/cast_as.h"

namespace baton::python {

namespace {

Expr bind_variables(const Expr& expr, const nb::dict& binds) {
  std::unordered_map<const ExprNode*, Expr> values;
  std::vector<Expr> held;
  for (const auto& [key, value] : binds) {
    Var variable;
    if (!nb::try_cast(key, variable, false)) throw nb::type_error("bind: the keys of binds are Vars");
    held.push_back(variable);
    values[variable.get()] = cast_as<Expr>(value, "bind: a value", "an expression");
  }
  return bind_vars(expr, values);
}

// [(compiler, begins, nodes, ends)] of all regions, by id.
nb::list regions_of(const Expr& root) {
  Regions regions(root);
  std::map<uint32_t, Regions::Index> by_id;
  std::map<Regions::Index, std::vector<Expr>> nodes;
  post_order(root, [&](const Expr& node) {
    const Regions::Index index = regions.of(node);
    if (index == Regions::kNone) return;
    by_id.emplace(regions[index].id, index);
    nodes[index].push_back(node);
  });
  const auto exprs = [](const std::list<const CallNode*>& calls) {
    std::vector<Expr> result;
    for (const CallNode* call : calls) result.emplace_back(Expr(call));
    return result;
  };
  nb::list result;
  for (const auto& [id, index] : by_id) {
    const Regions::Region& region = regions[index];
    result.append(nb::make_tuple(region.compiler, exprs(region.begins), nodes[index], exprs(region.ends)));
  }
  return result;
}

nb::tuple calibration(const IRModule& module) {
  const Calibration made = calibration_of(*module);
  nb::list values;
  for (const Calibration::Values& each : made.values)
    values.append(nb::make_tuple(each.function, each.first, each.inputs, each.outputs));
  return nb::make_tuple(made.module, values);
}

std::vector<Call> calls_without_span(const IRModule& module) {
  std::vector<Call> found;
  for (const auto& [name, function] : module->functions())
    post_order(Expr(function), [&](const Expr& node) {
      if (const auto* call = as<CallNode>(node); call && !call->span()) found.push_back(Call(call));
    });
  return found;
}

}  // namespace

void bind_measures(nb::module_& m) {
  m.def("calls_without_span", &calls_without_span, nb::arg("mod"),
        "Calls of a module whose position is not known.");
  m.def("bind", &bind_variables, nb::arg("expr"), nb::arg("binds"));
  m.def("multiply_accumulates", &multiply_accumulates, nb::arg("expr"), nb::arg("given"),
        "`given`: functions that count the calls of some operators.");
  m.def(
      "fake_quantized_frequencies",
      [](const IRModule& module) { return fake_quantized_frequencies(*module); }, nb::arg("mod"));
  m.def(
      "count_layers",
      [](const Expr& expr, const std::vector<std::string>& operators) {
        return count_layers(expr, {operators.begin(), operators.end()});
      },
      nb::arg("expr"), nb::arg("operators"));
  m.def("transposed_dense_weights", &transposed_dense_weights, nb::arg("expr"));
  m.def("is_constant_value", &is_constant_value, nb::arg("expr"));
  m.def(
      "extract_value", [](const IRModule& module, int64_t index) { return extract_value(*module, index); },
      nb::arg("mod"), nb::arg("index"));
  m.def(
      "primitive_functions", [](const IRModule& module) { return primitive_functions(*module); },
      nb::arg("mod"));
  m.def("calibration", &calibration, nb::arg("mod"));
  m.def("annotated_regions", &regions_of, nb::arg("expr"));
  nb::class_<CallGraph>(m, "FunctionCalls", "Which functions of a module name which.")
      .def(
          "__init__", [](CallGraph* self, const IRModule& module) { new (self) CallGraph(*module); },
          nb::arg("module"))
      .def_prop_ro("order", &CallGraph::order, nb::rv_policy::copy)
      .def(
          "callees",
          [](const CallGraph& graph, const std::string& name) {
            const std::set<std::string> found = graph.callees(name);
            return std::vector<std::string>(found.begin(), found.end());
          },
          nb::arg("name"))
      .def("references", &CallGraph::references, nb::arg("name"));
}

}  // namespace baton::python
