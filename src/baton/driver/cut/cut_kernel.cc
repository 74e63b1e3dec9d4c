#include "baton/driver/cut/cut_kernel.h"

#include <cctype>
#include <unordered_set>

#include "baton/driver/cut/node_selection.h"
#include "baton/driver/plan/kernel_names.h"
#include "baton/pass/rewriter.h"
#include "baton/support/error.h"
#include "baton/support/require.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

NDArray copy_of(const NDArray& array) {
  return NDArray::from_bytes(array.shape(), array.dtype(), array.data());
}

std::string variable_name(const std::string& node) {
  std::string name(short_node_name(node));
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

/// Maps the tensor parameters of the fused function to parameters of main.
class Params {
 public:
  Params(const BuildResult& built, const PlanNode& node) : plan_(*built.plan.graph), node_(node) {
    for (const auto& [name, value] : built.params()) constants_.insert(name);
  }

  Expr make(const Type& type) {
    const NodeInfo info(OriginSet::none(), {}, type);
    if (const auto* tuple = as_type<TupleTypeNode>(type)) {
      std::vector<Expr> fields;
      for (const Type& field : tuple->fields()) fields.push_back(make(field));
      return make_tuple(std::move(fields), info);
    }
    BATON_CHECK(next_ < node_.inputs.size(), "a fused function with more inputs than its node");
    const EntryId entry = node_.inputs[next_++];
    const uint32_t producer = plan_.maker_of(entry);
    const std::string& name = plan_.nodes[producer].name;
    const bool constant = constants_.count(name) != 0;
    const Var var = make_var(names_.make(variable_name(name)), type, info);
    params.push_back(
        {constant ? CutParam::Kind::kConstant : CutParam::Kind::kValue,
         var,
         {},
         constant ? ""
                  : "node " + std::to_string(producer) + " `" + std::string(short_node_name(name)) + "`"});
    entries.push_back(entry);
    return Expr(var);
  }

  std::vector<CutParam> params;
  std::vector<EntryId> entries;

 private:
  const Plan& plan_;
  const PlanNode& node_;
  std::unordered_set<std::string> constants_;
  size_t next_ = 0;
  UniqueNames names_;
};

}  // namespace

CutKernel cut_kernel(const BuildResult& built, int number, const NamedArrays& inputs) {
  const PlannedNode& planned = built.plan.nodes.at(static_cast<size_t>(number));
  const PlanNode& node = built.plan.graph->nodes[static_cast<size_t>(number)];
  if (!planned.function)
    throw Error("node " + std::to_string(number) + " `" + node.name +
                "` is an input or a constant: it calls no kernel");
  const std::unique_ptr<Executor> executor = make_executor(built);
  CutKernel result;
  Params params(built, node);
  std::unordered_map<const ExprNode*, Expr> values;
  for (const Var& param : planned.function->params()) {
    const Expr value = params.make(param->checked_type());
    values.emplace(param.get(), value);
  }
  std::vector<Var> vars;
  for (const CutParam& param : params.params) vars.push_back(param.var);
  Cut& cut = result.cut;
  cut.module = make_module();
  cut.module->set("main", make_function(vars, substitute(planned.function->body(), values), {}, {},
                                        NodeInfo(OriginSet::none())));
  cut.module = infer_types(cut.module);
  const std::string label =
      "node " + std::to_string(number) + " `" + std::string(short_node_name(node.name)) + "`";
  if (!planned.origins.origins().empty())
    for (const ChosenOperator& each :
         operators_of_nodes({&built.plan, &built.optimized->origins()}, {number}))
      cut.operators.push_back({each.origin, each.why});

  // Storage is reused during a run: operands are captured right before the kernel runs, results right after.
  set_model_inputs(*executor, inputs);
  require(executor->run_range(0, static_cast<uint32_t>(number)));
  for (size_t i = 0; i < vars.size(); ++i) {
    NamedArrays& arrays =
        params.params[i].kind == CutParam::Kind::kConstant ? result.arrays.params : result.arrays.inputs;
    arrays.emplace_back(vars[i]->name(), copy_of(executor->entry(params.entries[i])));
  }
  require(executor->run_range(static_cast<uint32_t>(number), static_cast<uint32_t>(number) + 1));
  for (uint32_t i = 0; i < node.num_outputs; ++i) {
    result.arrays.outputs.emplace_back("output" + std::to_string(i),
                                       copy_of(executor->entry(node.first_entry + i)));
    cut.outputs.push_back({{}, label});
  }
  cut.params = std::move(params.params);
  return result;
}

}  // namespace baton
