#include "ops/evaluate.h"

#include <algorithm>
#include <unordered_map>

#include "baton/codegen/backend.h"
#include "baton/codegen/evaluate/evaluator.h"
#include "baton/ir/rules/shape_rule.h"
#include "baton/ir/visit.h"
#include "baton/ops/run_compute.h"
#include "baton/schedule/lowered/rare_values.h"

#include "codegen/kernels.h"

namespace baton {

namespace {

using Values = std::vector<NDArray>;

Halide::Buffer<> buffer_of(NDArray array) {
  std::vector<int> sizes(array.shape().rbegin(), array.shape().rend());
  return Halide::Buffer<>(halide_type(array.dtype()), array.data(), sizes);
}

NDArray empty_of(const Type& type) {
  const auto* tensor = as_type<TensorTypeNode>(type);
  BATON_CHECK(tensor, "no tensor: " + type_text(type));
  return NDArray::empty(tensor->extents(), tensor->dtype());
}

}  // namespace

Values run_stages(const CallNode& call, const Values& args, const Type& result) {
  BATON_CHECK(call.op() && call.op()->compute, "no compute: " + (call.op() ? call.op()->name : "a function"));
  std::vector<Tensor> inputs;
  std::vector<Halide::Buffer<>> buffers;
  for (const NDArray& arg : args) {
    buffers.push_back(buffer_of(arg));
    Halide::Func load;
    const Axes i(arg.ndim());
    const std::vector<Halide::Var> at = i.reversed();
    load(at) = buffers.back()(std::vector<Halide::Expr>(at.begin(), at.end()));
    inputs.emplace_back(load, arg.shape(), arg.dtype());
  }
  std::vector<Type> types;
  for (const NDArray& arg : args) types.push_back(tensor_type(arg.shape(), arg.dtype()));
  std::string prefix = call.op()->name;
  std::replace(prefix.begin(), prefix.end(), '.', '_');  // Halide's names have no dots
  Compute compute(prefix, inputs, types, result);
  run_compute(*call.op(), compute, call.attrs());
  for (const Stage& stage : compute.stages()) Halide::Func(stage.func).compute_root();
  Values outputs;
  const auto* tuple = as_type<TupleTypeNode>(result);
  for (size_t k = 0; k < compute.results().size(); ++k) {
    outputs.push_back(empty_of(tuple ? tuple->fields()[k] : result));
    if (outputs.back().size() == 0) continue;
    Halide::Buffer<> to = buffer_of(outputs.back());
    const Halide::Target target = Halide::get_jit_target_from_environment();
    Halide::Func result(compute.results()[k]);
    RareValuesPass rare(true);
    result.add_custom_lowering_pass(&rare, [] {});
    result.realize(to, target.with_feature(Halide::Target::StrictFloat));
  }
  return outputs;
}

namespace {

/// An argument of type `type` made of tensors that `next` gives one after the other.
Expr argument(const Type& type, const std::function<Expr()>& next) {
  const auto* tuple = as_type<TupleTypeNode>(type);
  if (!tuple) return next();
  std::vector<Expr> fields;
  std::vector<Type> types;
  for (const Type& field : tuple->fields())
    fields.push_back(argument(field, next)), types.push_back(fields.back()->checked_type());
  return make_tuple(std::move(fields), test::typed(tuple_type(std::move(types))));
}

}  // namespace

RunCall run_folded() {
  return [evaluator = make_evaluator()](const CallNode& call, const Values& args, const Type&) {
    size_t used = 0;
    std::vector<Expr> given;
    for (const Expr& arg : call.args())
      given.push_back(
          argument(arg->checked_type(), [&] { return make_constant(args.at(used++), test::typed({})); }));
    return evaluator->evaluate(
        *make_call(call.callee(), std::move(given), call.attrs(), test::typed(call.checked_type())),
        host_context());
  };
}

Function kernel_function(const CallNode& call, const Values& args, const Type& result) {
  std::vector<Var> params;
  std::vector<Expr> given;
  for (const Expr& arg : call.args())
    given.push_back(argument(arg->checked_type(), [&]() -> Expr {
      const NDArray& value = args.at(params.size());
      params.push_back(
          test::param("p" + std::to_string(params.size()), tensor_type(value.shape(), value.dtype())));
      return params.back();
    }));
  return test::primitive(params,
                         make_call(call.callee(), std::move(given), call.attrs(), test::typed(result)));
}

RunCall run_kernel_of(const std::string& template_name) {
  return [template_name](const CallNode& call, const Values& args, const Type& result) {
    KernelRequest request;
    request.function = kernel_function(call, args, result);
    request.template_name = template_name;
    const std::vector<KernelRequest> requests = {request};
    const test::Folder folder;
    KernelCache cache(folder.path());
    BuildContext options = host_context();
    options.cache = &cache;
    options.threads = 1;
    const auto library =
        jit_library({{"kernel", compile_kernels(requests, options)[0]}}, requests, options.host(), options);
    return test::call_kernel(library->find("kernel"), request.function, args);
  };
}

Values evaluate(const Function& function, const Values& inputs, const RunCall& run) {
  std::unordered_map<const ExprNode*, Values> values;
  BATON_CHECK(inputs.size() == function->params().size(), "one array per parameter");
  for (size_t i = 0; i < inputs.size(); ++i) values[function->params()[i].get()] = {inputs[i]};
  post_order(function->body(), [&](const Expr& node) {
    auto gather = [&](const std::vector<Expr>& from) {
      Values all;
      for (const Expr& expr : from)
        all.insert(all.end(), values.at(expr.get()).begin(), values.at(expr.get()).end());
      return all;
    };
    if (const auto* constant = as<ConstantNode>(node)) {
      values[node.get()] = {constant->value()};
    } else if (const auto* tuple = as<TupleNode>(node)) {
      values[node.get()] = gather(tuple->fields());
    } else if (const auto* item = as<TupleGetItemNode>(node)) {
      values[node.get()] = {values.at(item->tuple().get()).at(item->index())};  // tuples of tensors only
    } else if (const auto* call = as<CallNode>(node)) {
      const Values args = gather(call->args());
      values[node.get()] = run(*call, args, static_result_type(*call, args));
    }
  });
  return values.at(function->body().get());
}

}  // namespace baton
