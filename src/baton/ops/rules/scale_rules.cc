#include "baton/ops/rules/scale_rules.h"

#include "baton/ir/inspect.h"

namespace baton {

namespace {

using Takes = ScaleRule::Takes;
using What = ScaleStep::What;

/// A scale of the result is passed to all inputs.
ScalePlan pass_all(const ScaleAxis& takes, int inputs) {
  ScalePlan plan{takes, std::vector<ScaleStep>(inputs), true};
  return plan;
}

/// The axis of the scale in the other input of a sum, when that is a vector along the axis and `index` is
/// full.
std::optional<int> other_axis(const CallNode& sum, const Expr& full, const Expr& other, int axis) {
  const TensorTypeNode* type = as_type<TensorTypeNode>(sum.checked_type());
  const TensorTypeNode *wide = tensor_type_of(full), *narrow = tensor_type_of(other);
  if (!type || !wide || !narrow || wide->shape() != type->shape()) return std::nullopt;
  return vector_axis(*narrow, *type, axis);
}

std::optional<ScalePlan> sum_backward(const CallNode& call, const std::vector<Takes>& inputs) {
  const Takes &a = inputs[0], &b = inputs[1];
  if (a && b && a->axis == b->axis &&
      same_type(call.args()[0]->checked_type(), call.args()[1]->checked_type())) {
    const ScaleAxis both{a->axis, a->need_positive || b->need_positive, a->need_nonzero || b->need_nonzero};
    return ScalePlan{both, {{What::kPass, a->axis}, {What::kPass, b->axis}}};
  }
  for (int full : {0, 1}) {
    if (!inputs[full]) continue;
    const auto axis = other_axis(call, call.args()[full], call.args()[1 - full], inputs[full]->axis);
    if (!axis) continue;
    ScalePlan plan{*inputs[full], std::vector<ScaleStep>(2)};
    plan.inputs[full] = {What::kPass, inputs[full]->axis};
    plan.inputs[1 - full] = {What::kMultiply, *axis};
    return plan;
  }
  return std::nullopt;
}

std::optional<ScalePlan> sum_forward(const CallNode& call, int index, const Takes& result) {
  if (!result) return std::nullopt;
  const auto axis = other_axis(call, call.args()[index], call.args()[1 - index], result->axis);
  // Never both: only the first input that can carry the scale does.
  if (!axis || (index == 1 && other_axis(call, call.args()[0], call.args()[1], result->axis)))
    return std::nullopt;
  ScalePlan plan = pass_all(*result, 2);
  plan.takes.need_nonzero = true;
  plan.inputs[1 - index] = {What::kDivide, *axis};
  return plan;
}

/// The axes of a convolution that a scale can be along. -1: none.
struct ConvAxes {
  int data = -1, result = -1;  ///< channels
  int weight_output = -1, weight_input = -1;
};

ConvAxes conv_axes(const CallNode& call) {
  const std::string data = text_attr(call, "data_layout"), kernel = text_attr(call, "kernel_layout");
  const std::string out = text_attr(call, "out_layout").empty() ? data : text_attr(call, "out_layout");
  const auto plain = [](const std::string& layout) {
    return layout.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") == std::string::npos;
  };
  const auto at = [](const std::string& layout, char axis) { return static_cast<int>(layout.find(axis)); };
  if (!plain(data) || !plain(kernel) || !plain(out)) return {};
  const int64_t groups = int_attr(call, "groups");
  ConvAxes axes{at(data, 'C'), at(out, 'C'), at(kernel, 'O'), at(kernel, 'I')};
  if (groups == 1) return axes;
  // Depthwise: one input channel for each group. The weight's axis of as many channels holds both factors.
  const TensorTypeNode *in = static_type_of(call.args()[0]), *weight = static_type_of(call.args()[1]);
  const auto* type = as_type<TensorTypeNode>(call.checked_type());
  if (!in || !weight || !type || !type->is_static()) return {};
  const int64_t channels = in->extents()[axes.data], outputs = type->extents()[axes.result];
  if (groups != channels || outputs != channels) return {};
  const int o = axes.weight_output, i = axes.weight_input;
  const int axis = weight->extents()[o] == channels && weight->extents()[i] == 1   ? o
                   : weight->extents()[i] == channels && weight->extents()[o] == 1 ? i
                                                                                   : -1;
  return axis < 0 ? ConvAxes{} : ConvAxes{axes.data, axes.result, axis, axis};
}

/// A scale absorbed by the weight, input 1.
std::optional<ScalePlan> into_weight(int axis, int weight_axis) {
  if (axis < 0 || weight_axis < 0) return std::nullopt;
  return ScalePlan{{axis}, {{}, {What::kMultiply, weight_axis}}};
}

}  // namespace

ScaleRule positive_scale_rule() {
  return {[](const CallNode&, const std::vector<Takes>& inputs) -> std::optional<ScalePlan> {
            if (!inputs[0]) return std::nullopt;
            ScaleAxis takes = *inputs[0];
            takes.need_positive = true;
            return ScalePlan{takes, {{What::kPass, takes.axis}}};
          },
          [](const CallNode&, int, const Takes& result) -> std::optional<ScalePlan> {
            if (!result) return std::nullopt;
            ScalePlan plan = pass_all(*result, 1);
            plan.takes.need_positive = true;
            return plan;
          }};
}

ScaleRule sum_scale_rule() { return {sum_backward, sum_forward}; }

ScaleRule bias_scale_rule() {
  const auto along_bias = [](const CallNode& call, const Takes& takes) {
    const TensorTypeNode* data = tensor_type_of(call.args()[0]);
    return takes && data && front_axis(int_attr(call, "axis"), data->rank()) == takes->axis;
  };
  return {[along_bias](const CallNode& call, const std::vector<Takes>& inputs) -> std::optional<ScalePlan> {
            if (!along_bias(call, inputs[0])) return std::nullopt;
            return ScalePlan{*inputs[0], {{What::kPass, inputs[0]->axis}, {What::kMultiply, 0}}};
          },
          nullptr};
}

ScaleRule conv_scale_rule() {
  return {[](const CallNode& call, const std::vector<Takes>&) {
            const ConvAxes axes = conv_axes(call);
            return into_weight(axes.result, axes.weight_output);
          },
          [](const CallNode& call, int index, const Takes&) -> std::optional<ScalePlan> {
            const ConvAxes axes = conv_axes(call);
            return index == 0 ? into_weight(axes.data, axes.weight_input) : std::nullopt;
          }};
}

ScaleRule dense_scale_rule() {
  const auto last = [](const Expr& expr) {
    return tensor_type_of(expr) ? tensor_type_of(expr)->rank() - 1 : -1;
  };
  return {[last](const CallNode& call, const std::vector<Takes>&) {
            return into_weight(last(call.args()[0]), 0);
          },
          [last](const CallNode& call, int index, const Takes&) -> std::optional<ScalePlan> {
            return index == 0 ? into_weight(last(call.args()[0]), 1) : std::nullopt;
          }};
}

}  // namespace baton
