// What only matters in training goes; normalisations become arithmetic that fusion and FoldScaleAxis can work
// with.
//   batch_norm(x, gamma, beta, mean, var).0  ->  x * scale + shift,  scale = gamma / sqrt(var + eps), shift =
//   beta - mean * scale dropout(x).0                             ->  x layer_norm, group_norm, instance_norm
//   ->  (x - mean(x)) / sqrt(variance(x) + eps) * gamma + beta l2_normalize(x)                          ->  x
//   / sqrt(max(sum(x * x), eps))
// A batch_norm whose new mean or variance is used keeps those: only .0 is replaced.
#include "baton/ir/build.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"

namespace baton {

namespace {

/// gamma * value + beta, as far as `norm` wants them; both are vectors along `axis`.
Expr scale_and_center(const CallNode& norm, Expr value, const Expr& gamma, const Expr& beta, int rank,
                      int axis) {
  if (bool_attr(norm, "scale")) value = call_op("multiply", {value, expand_to_axis(gamma, rank, axis)});
  if (bool_attr(norm, "center")) value = call_op("add", {value, expand_to_axis(beta, rank, axis)});
  return value;
}

/// (x - mean) / sqrt(variance + eps), over `axes`.
Expr standardise(const Expr& x, const std::vector<int64_t>& axes, double epsilon, DType dtype) {
  const NamedAttrs reduce = {{"axis", axes}, {"keepdims", true}};
  const Expr mean = call_op("mean", {x}, reduce);
  const Expr variance = call_op("variance", {x, mean}, reduce);
  const Expr denominator = call_op("add", {variance, scalar(epsilon, dtype)});
  const Expr difference = call_op("subtract", {x, mean});
  return call_op("divide", {difference, call_op("sqrt", {denominator})});
}

Expr expand_batch_norm(const CallNode& norm, const TensorTypeNode& data) {
  const int axis = front_axis(int_attr(norm, "axis"), data.rank());
  const Expr &x = norm.args()[0], &gamma = norm.args()[1], &beta = norm.args()[2], &mean = norm.args()[3],
             &variance = norm.args()[4];
  const Expr shifted = call_op("add", {variance, scalar(float_attr(norm, "epsilon"), data.dtype())});
  Expr scale = call_op("divide", {scalar(1, data.dtype()), call_op("sqrt", {shifted})});
  if (bool_attr(norm, "scale")) scale = call_op("multiply", {scale, gamma});
  Expr shift = call_op("multiply", {call_op("negative", {mean}), scale});
  if (bool_attr(norm, "center")) shift = call_op("add", {shift, beta});
  return call_op("add", {call_op("multiply", {x, expand_to_axis(scale, data.rank(), axis)}),
                         expand_to_axis(shift, data.rank(), axis)});
}

Expr expand_layer_norm(const CallNode& norm, const TensorTypeNode& data) {
  const int64_t axis = int_attr(norm, "axis");
  const Expr value = standardise(norm.args()[0], {axis}, float_attr(norm, "epsilon"), data.dtype());
  return scale_and_center(norm, value, norm.args()[1], norm.args()[2], data.rank(),
                          front_axis(axis, data.rank()));
}

Expr expand_instance_norm(const CallNode& norm, const TensorTypeNode& data) {
  const int axis = front_axis(int_attr(norm, "axis"), data.rank());
  std::vector<int64_t> reduced;
  for (int i = 1; i < data.rank(); ++i)
    if (i != axis) reduced.push_back(i);
  const Expr value = standardise(norm.args()[0], reduced, float_attr(norm, "epsilon"), data.dtype());
  return scale_and_center(norm, value, norm.args()[1], norm.args()[2], data.rank(), axis);
}

Expr expand_group_norm(const CallNode& norm, const TensorTypeNode& data) {
  const int axis = front_axis(int_attr(norm, "axis"), data.rank());
  const int64_t groups = int_attr(norm, "num_groups");
  const std::vector<int64_t> shape = data.extents();
  std::vector<int64_t> grouped, reduced;
  for (int i = 0; i < data.rank(); ++i) {
    if (i == axis) grouped.push_back(groups);
    if (i >= axis) reduced.push_back(i + 1);
    grouped.push_back(i == axis ? shape[i] / groups : shape[i]);
  }
  const Expr split = call_op("reshape", {norm.args()[0]}, {{"newshape", grouped}});
  const Expr value = standardise(split, reduced, float_attr(norm, "epsilon"), data.dtype());
  const Expr joined = call_op("reshape", {value}, {{"newshape", shape}});
  return scale_and_center(norm, joined, norm.args()[1], norm.args()[2], data.rank(), axis);
}

Expr expand_l2_normalize(const CallNode& norm, const TensorTypeNode& data) {
  const Expr& x = norm.args()[0];
  const Expr square = call_op("multiply", {x, x});
  const Expr sum = call_op("sum", {square}, {{"axis", ints_attr(norm, "axis")}, {"keepdims", true}});
  const Expr bounded = call_op("maximum", {sum, scalar(float_attr(norm, "eps"), data.dtype())});
  return call_op("divide", {x, call_op("sqrt", {bounded})});
}

class InferenceSimplifier final : public Rewriter {
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    if (const auto* item = as<TupleGetItemNode>(rebuilt))
      return unpack(*as<TupleGetItemNode>(original), *item, rebuilt);
    const auto* call = as<CallNode>(rebuilt);
    if (!call || !call->op()) return rebuilt;
    using Expand = Expr (*)(const CallNode&, const TensorTypeNode&);
    static const std::pair<std::string_view, Expand> rules[] = {{"nn.layer_norm", expand_layer_norm},
                                                                {"nn.group_norm", expand_group_norm},
                                                                {"nn.instance_norm", expand_instance_norm},
                                                                {"nn.l2_normalize", expand_l2_normalize}};
    for (const auto& [name, expand] : rules) {
      if (call->op()->name != name) continue;
      const TensorTypeNode* data = tensor_type_of(as<CallNode>(original)->args()[0]);
      if (!data || (name == "nn.group_norm" && !data->is_static())) return rebuilt;
      return expand(*call, *data);
    }
    return rebuilt;
  }

  // The item itself is structure: what replaces it stands for the operator whose result it takes.
  static Expr unpack(const TupleGetItemNode& original, const TupleGetItemNode& item, const Expr& rebuilt) {
    if (item.index() != 0) return rebuilt;
    if (const CallNode* dropout = call_of(item.tuple(), "nn.dropout")) {
      retire(dropout->origins(), "dropout is the identity at inference");
      return dropout->args()[0];
    }
    const CallNode* norm = call_of(item.tuple(), "nn.batch_norm");
    const auto* typed = as<CallNode>(original.tuple());
    const TensorTypeNode* data = norm && typed ? tensor_type_of(typed->args()[0]) : nullptr;
    if (!data) return rebuilt;
    const OriginScope scope(norm->origins());
    return expand_batch_norm(*norm, *data);
  }
};

}  // namespace

Pass simplify_inference() {
  return function_pass(
      {0, "SimplifyInference", {"InferType"}},
      [](const Function& function, const IRModule&, const PassContext&) {
        return as_ref<FunctionNode>(InferenceSimplifier().run(function));
      },
      /*may_retire=*/true);
}

}  // namespace baton
