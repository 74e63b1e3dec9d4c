#include "baton/driver/cut/cut_values.h"

#include <algorithm>
#include <map>

#include "baton/driver/pipeline.h"
#include "baton/interpreter/interpreted_program.h"
#include "baton/ir/visit.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/support/error.h"
#include "baton/support/require.h"

namespace baton {

namespace {

const NDArray* find(const NamedArrays& arrays, const std::string& name) {
  const auto at =
      std::find_if(arrays.begin(), arrays.end(), [&](const auto& each) { return each.first == name; });
  return at == arrays.end() ? nullptr : &at->second;
}

NDArray value_of(const Var& param, const NamedArrays& given) {
  if (const NDArray* value = find(given, param->name())) return *value;
  const auto* type = as_type<TensorTypeNode>(param->checked_type());
  if (!type || !type->is_static())
    throw NotSupported("parameter %" + param->name() + " is " + type_text(param->checked_type()) +
                       ": give its value");
  const NDArray value = tensor_value(param->name(), type->extents(), type->dtype());
  if (!value)
    throw Error("no memory for parameter %" + param->name() + " of type " + type_text(param->checked_type()));
  return value;
}

/// Whether computing `values` needs control flow or function calls, which a graph cannot represent.
bool needs_program(const CutGraph& graph, const std::vector<Expr>& values) {
  bool found = false;
  for (const Expr& value : values)
    post_order(value, [&](const Expr& expr) {
      const CutNode* node = graph.find(expr.get());
      if (!node || !node->step) return;
      const auto* call = as<CallNode>(expr);
      Function callee = call ? as_ref<FunctionNode>(call->callee()) : Function();
      if (const auto* global = call ? as<GlobalVarNode>(call->callee()) : nullptr)
        callee = graph.module()->find(global->name());
      const bool goes = !callee || callee->is_primitive() || callee->attr("Inline") ||
                        callee->attr("Compiler") || callee->attr("Composite");
      found |= !node->control.empty() || !goes;
    });
  return found;
}

std::vector<NDArray> run_program(const IRModule& module, const BuildOptions& options,
                                 const NamedArrays& inputs) {
  const program::InterpretedProgram program(bind_params(module, options.params), optimize, options.context);
  std::vector<program::Value> args;
  for (const Var& param : program.params()) args.push_back(program::tensor_value(value_of(param, inputs)));
  std::vector<NDArray> arrays;
  const program::Value result = program.run(args, options.context);
  for (const program::Value& value : program::as_value<program::TupleValue>(result)->fields())
    arrays.push_back(program::as_value<program::TensorValue>(value)->array());
  return arrays;
}

std::vector<NDArray> run_built(const IRModule& module, const BuildOptions& options,
                               const NamedArrays& inputs) {
  const std::unique_ptr<Executor> executor = make_executor(build(module, options));
  set_model_inputs(*executor, inputs);
  require(executor->run());
  std::vector<NDArray> arrays;
  for (size_t i = 0; i < executor->num_outputs(); ++i) arrays.push_back(executor->output(i));
  return arrays;
}

}  // namespace

IRModule program_returning(const CutGraph& graph, const std::vector<Expr>& values) {
  const IRModule& source = graph.module();
  IRModule module = make_module();
  for (const auto& [name, type] : source->type_defs()) module->set_type(type);
  for (const auto& [name, function] : source->functions())
    if (name != "main") module->set(name, function);
  module->set("main", make_function(graph.main()->params(), make_tuple(values, NodeInfo(OriginSet::none())),
                                    {}, graph.main()->attrs(), NodeInfo(OriginSet::none())));
  return module;
}

CutArrays cut_arrays(const CutGraph& graph, const Cut& cut, const BuildOptions& options,
                     const NamedArrays& inputs) {
  for (const auto& [name, value] : inputs) {
    const auto& params = graph.main()->params();
    if (std::none_of(params.begin(), params.end(), [&](const Var& param) { return param->name() == name; }))
      throw Error("\"" + name + "\" is no input of the model");
  }
  std::vector<Expr> wanted;
  for (const CutParam& param : cut.params)
    if (param.kind == CutParam::Kind::kValue) wanted.push_back(param.source);
  const size_t values = wanted.size();
  for (const CutOutput& output : cut.outputs) wanted.push_back(output.source);
  const IRModule module = program_returning(graph, wanted);
  const std::vector<NDArray> arrays = needs_program(graph, wanted) ? run_program(module, options, inputs)
                                                                   : run_built(module, options, inputs);
  BATON_CHECK(arrays.size() == wanted.size(), "a tensor for each value of a cut");
  CutArrays result;
  size_t next = 0;
  for (const CutParam& param : cut.params) {
    const std::string& name = param.var->name();
    if (param.kind == CutParam::Kind::kValue) {
      result.inputs.emplace_back(name, arrays[next++]);
    } else if (param.kind == CutParam::Kind::kConstant) {
      result.params.emplace_back(name, static_cast<const ConstantNode&>(*param.source).value());
    } else if (const NDArray* weight = find(options.params, name)) {
      result.params.emplace_back(name, *weight);
    } else {
      result.inputs.emplace_back(name, value_of(param.var, inputs));
    }
  }
  for (size_t i = values; i < arrays.size(); ++i)
    result.outputs.emplace_back("output" + std::to_string(i - values), arrays[i]);
  return result;
}

}  // namespace baton
