#include "codegen/symbolic.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <unordered_map>

#include <gtest/gtest.h>

#include "baton/codegen/backend.h"
#include "baton/driver/initialize.h"
#include "baton/driver/pipeline.h"
#include "baton/ir/extent.h"
#include "baton/ir/extents/kernel_extents.h"
#include "baton/ir/inspect.h"
#include "baton/ir/op.h"
#include "baton/ir/visit.h"
#include "baton/pass/rewriter.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/support/diagnostic.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

#include "codegen/fuzz/guarded_memory.h"
#include "codegen/kernels.h"
#include "ops/numbers.h"

namespace baton::test {

namespace {

NodeInfo untyped() { return NodeInfo(OriginSet::none()); }

bool has_unknown(const Type& type) {
  return std::ranges::any_of(flat_types(type),
                             [](const TensorTypeNode* tensor) { return !tensor->is_known(); });
}

}  // namespace

std::optional<Function> with_shapes(const Function& function, const std::vector<std::vector<Dim>>& shapes) {
  std::unordered_map<const ExprNode*, Expr> made;
  std::vector<Var> params;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const Var& param = function->params()[i];
    const auto* type = as_type<TensorTypeNode>(type_of(*param));
    params.push_back(make_var(param->name(), tensor_type(shapes[i], type->dtype()), untyped()));
    made[param.get()] = params.back();
  }
  try {
    const Expr typed =
        infer_type(make_function(std::move(params), substitute(function->body(), made), {}, {}, untyped()));
    return Function(as<FunctionNode>(typed));
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::optional<SymbolicCall> with_variable(const Function& function, const std::vector<NDArray>& inputs,
                                          int64_t extent) {
  const Dim n = extent_var({"n"});
  std::vector<std::vector<Dim>> shapes;
  for (const Var& param : function->params()) {
    shapes.push_back(as_type<TensorTypeNode>(type_of(*param))->shape());
    for (Dim& dim : shapes.back())
      if (dim == Dim(extent)) dim = n;
  }
  const std::optional<Function> symbolic = with_shapes(function, shapes);
  if (!symbolic) return std::nullopt;
  bool known = !has_unknown((*symbolic)->body()->checked_type());
  post_order((*symbolic)->body(), [&](const Expr& node) {
    if (node->kind() != ExprKind::kOp) known = known && !has_unknown(type_of(node));
  });
  const std::vector<Dim> extents = kernel_extents(**symbolic);
  if (!known || extents.size() != 1) return std::nullopt;
  // Types of the variable as those of the number.
  const Type at = replace_extent_vars((*symbolic)->body()->checked_type(), [&](Dim) { return Dim(extent); });
  if (!same_type(at, function->body()->checked_type())) return std::nullopt;
  return SymbolicCall{*symbolic, extents, {extent}, inputs};
}

std::optional<Function> at_number(const SymbolicCall& call, int64_t n) {
  std::vector<std::vector<Dim>> shapes;
  for (const Var& param : call.function->params()) {
    shapes.push_back(as_type<TensorTypeNode>(type_of(*param))->shape());
    for (Dim& dim : shapes.back()) dim = extent_at(dim, [&](Dim) { return n; });
  }
  std::optional<Function> at = with_shapes(call.function, shapes);
  const int64_t numbers[] = {n};
  if (at &&
      !same_type((*at)->body()->checked_type(), at_extents(*call.function, numbers)->body()->checked_type()))
    return std::nullopt;
  return at;
}

SymbolicCall symbolic_program(const std::string& text) {
  initialize();
  const std::pair<const char*, int64_t> marks[] = {{"$N", 1009}, {"$M", 1013}};
  std::string marked = text;
  for (const auto& [name, number] : marks)
    for (size_t at = 0; (at = marked.find(name, at)) != std::string::npos;)
      marked.replace(at, 2, std::to_string(number));
  const Function main =
      parse_module("#[version = \"0.0.5\"]\ndef @main(" + marked + "\n}\n", "test.relay")->find("main");
  const std::vector<Dim> vars{extent_var({"N"}), extent_var({"M"})};
  SymbolicCall call;
  std::vector<std::vector<Dim>> shapes;
  for (const Var& param : main->params()) {
    const auto* type = as_type<TensorTypeNode>(type_of(*param));
    shapes.push_back(type->shape());
    std::vector<int64_t> small;
    for (Dim& dim : shapes.back()) {
      for (size_t i = 0; i < vars.size(); ++i)
        if (dim == Dim(marks[i].second)) dim = vars[i];
      small.push_back(dim.is_any() ? 3 : dim.value());
    }
    call.inputs.push_back(tensor_value(param->name(), small, type->dtype(), default_range(type->dtype())));
  }
  call.function = with_shapes(main, shapes).value();
  call.extents = kernel_extents(*call.function);
  return call;
}

std::vector<KernelRequest> symbolic_kernels(const std::string& text) {
  const SymbolicCall program = symbolic_program(text);
  std::unordered_map<const ExprNode*, Expr> values;
  std::vector<Var> params;
  for (size_t i = 0; i < program.function->params().size(); ++i) {
    const Var& param = program.function->params()[i];
    if (as_type<TensorTypeNode>(type_of(*param))->is_static())
      values[param.get()] = make_constant(program.inputs[i], untyped());
    else
      params.push_back(param);
  }
  for (Var& param : params) {
    const Var open = make_var(param->name(), type_of(*param), untyped());
    values[param.get()] = open;
    param = open;
  }
  IRModule module = make_module();
  module->set("main", make_function(params, substitute(program.function->body(), std::move(values)), {}, {},
                                    untyped()));
  auto passes = std::make_shared<PassContext>();
  passes->opt_level = 3;
  const BuildContext context = host_context().with_passes(passes);
  const InstrumentScope scope(context.passes);
  std::vector<KernelRequest> requests;
  const IRModule optimized = optimize(infer_types(module), context);
  for (const auto& [name, function] : optimized->functions())
    post_order(Expr(function), [&](const Expr& node) {
      const auto* inner = as<FunctionNode>(node);
      if (inner && inner->is_primitive()) requests.push_back({Function(inner), {}, "", {}});
    });
  return requests;
}

std::vector<NDArray> inputs_at(const SymbolicCall& call, const Function& at) {
  std::vector<NDArray> inputs;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const auto* type = as_type<TensorTypeNode>(type_of(*at->params()[i]));
    const NDArray& from = call.inputs[i];
    NDArray to = NDArray::zeros(type->extents(), type->dtype());
    const auto size = static_cast<size_t>(type->dtype().bytes());
    for (int64_t k = 0; k < to.size() && from.size() > 0; ++k)
      std::memcpy(static_cast<char*>(to.data()) + static_cast<size_t>(k) * size,
                  static_cast<const char*>(from.data()) + static_cast<size_t>(k % from.size()) * size, size);
    inputs.push_back(std::move(to));
  }
  return inputs;
}

std::vector<NDArray> run_guarded(const JitKernel& kernel, const Function& at,
                                 const std::vector<NDArray>& inputs, const std::vector<int64_t>& extents) {
  std::vector<NDArray> all, outputs;
  for (const NDArray& input : inputs) {
    all.push_back(fuzz::guarded_copy(input, fuzz::GuardAt::kEnd));
    fuzz::protect(all.back());
  }
  const size_t count = all.size();
  for (const TensorTypeNode* type : flat_types(at->body()->checked_type())) {
    outputs.push_back(fuzz::guarded_array(type->extents(), type->dtype(), fuzz::GuardAt::kEnd));
    all.push_back(outputs.back());
  }
  std::deque<KernelArgument> arguments;
  std::vector<int32_t> numbers(extents.begin(), extents.end());
  std::vector<void*> args;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i == count)
      for (int32_t& number : numbers) args.push_back(&number);
    args.push_back(&arguments.emplace_back(all[i]).tensor);
  }
  EXPECT_EQ(kernel.function(args.data()), 0);
  for (const NDArray& output : outputs) EXPECT_TRUE(fuzz::is_intact(output));
  return outputs;
}

std::string difference(const std::vector<NDArray>& got, const std::vector<NDArray>& want) {
  if (got.size() != want.size()) return "another number of outputs";
  for (size_t k = 0; k < got.size(); ++k) {
    if (got[k].shape() != want[k].shape()) return "output " + std::to_string(k) + " has another shape";
    const std::vector<double> a = numbers(got[k]), b = numbers(want[k]);
    double largest = 1;
    for (const double value : b)
      if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
    const DType type = want[k].dtype();
    const double tolerance = !type.is_float() ? 0 : type.bits == 64 ? 1e-12 : type.bits == 32 ? 1e-5 : 1e-2;
    for (size_t i = 0; i < a.size(); ++i) {
      if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
      if (std::fabs(a[i] - b[i]) <= tolerance * largest) continue;
      return "output " + std::to_string(k) + ", element " + std::to_string(i) + " is " +
             std::to_string(a[i]) + ", not " + std::to_string(b[i]);
    }
  }
  return "";
}

}  // namespace baton::test
