#include "baton/ops/rules/scale_rules.h"

#include "baton/ir/inspect.h"
#include "baton/ir/layout.h"

namespace baton {

namespace {

using Takes = ScaleRule::Takes;
using What = ScaleStep::What;

/// A scale of the result is passed to all inputs.
ScalePlan pass_all(const ScaleAxis& takes, int inputs) {
  ScalePlan plan{takes, std::vector<ScaleStep>(inputs), true};
  return plan;
}

/// What happens to the other input of a sum, when that is a vector along the axis of the scale and input
/// `full` has all of the result's elements.
std::optional<ScaleStep> other_step(What what, const CallNode& sum, int full, const ScaleAxis& scale) {
  const TensorTypeNode* type = as_type<TensorTypeNode>(sum.checked_type());
  const TensorTypeNode *wide = tensor_type_of(sum.args()[full]),
                       *narrow = tensor_type_of(sum.args()[1 - full]);
  if (!type || !wide || !narrow || wide->shape() != type->shape()) return std::nullopt;
  const auto axis = vector_axis(*narrow, *type, scale.axis, scale.block);
  if (!axis) return std::nullopt;
  return ScaleStep{what, *axis, scale.block < 0 ? -1 : scale.block - (type->rank() - narrow->rank())};
}

std::optional<ScalePlan> sum_backward(const CallNode& call, const std::vector<Takes>& inputs) {
  const Takes &a = inputs[0], &b = inputs[1];
  if (a && b && a->same_place(*b) &&
      same_type(call.args()[0]->checked_type(), call.args()[1]->checked_type())) {
    const ScaleAxis both{a->axis, a->need_positive || b->need_positive, a->need_nonzero || b->need_nonzero,
                         a->block};
    return ScalePlan{both, {{What::kPass, a->axis}, {What::kPass, b->axis}}};
  }
  for (int full : {0, 1}) {
    if (!inputs[full]) continue;
    const auto other = other_step(What::kMultiply, call, full, *inputs[full]);
    if (!other) continue;
    ScalePlan plan{*inputs[full], std::vector<ScaleStep>(2)};
    plan.inputs[full] = {What::kPass, inputs[full]->axis};
    plan.inputs[1 - full] = *other;
    return plan;
  }
  return std::nullopt;
}

std::optional<ScalePlan> sum_forward(const CallNode& call, int index, const Takes& result) {
  if (!result) return std::nullopt;
  const auto other = other_step(What::kDivide, call, index, *result);
  // Never both: only the first input that can carry the scale does.
  if (!other || (index == 1 && other_step(What::kDivide, call, 0, *result))) return std::nullopt;
  ScalePlan plan = pass_all(*result, 2);
  plan.takes.need_nonzero = true;
  plan.inputs[1 - index] = *other;
  return plan;
}

/// The axis of channels in a layout, and its block: of C in NCHW4c they are 1 and 4. -1: none.
struct ChannelAxes {
  int axis = -1, block = -1;
  int64_t size = 0;  ///< of a block
};

/// Nothing where the channels are split more than once.
ChannelAxes channels_in(const Layout& layout, char letter) {
  ChannelAxes axes{layout.find(letter), -1, 0};
  for (int i = 0; i < layout.rank(); ++i) {
    const LayoutAxis& axis = layout.axes()[static_cast<size_t>(i)];
    if (axis.letter != letter || axis.is_primal()) continue;
    if (axes.block >= 0) return {};
    axes.block = i;
    axes.size = axis.factor;
  }
  return axes;
}

/// The axes of a convolution that a scale can be along.
struct ConvAxes {
  ChannelAxes data, result;  ///< channels
  ChannelAxes weight_output, weight_input;
};

ConvAxes conv_axes(const CallNode& call) {
  const std::string data_text = text_attr(call, "data_layout"), out_text = text_attr(call, "out_layout");
  const auto data = Layout::parse(data_text), kernel = Layout::parse(text_attr(call, "kernel_layout")),
             out = Layout::parse(out_text.empty() ? data_text : out_text);
  if (!data || !kernel || !out) return {};
  const ConvAxes axes{channels_in(*data, 'C'), channels_in(*out, 'C'), channels_in(*kernel, 'O'),
                      channels_in(*kernel, 'I')};
  const int64_t groups = int_attr(call, "groups");
  if (groups == 1) return axes;
  for (const ChannelAxes& each : {axes.data, axes.result, axes.weight_output, axes.weight_input})
    if (each.axis < 0 || each.block >= 0) return {};
  // Depthwise: one input channel for each group. The weight's axis of as many channels holds both factors.
  const TensorTypeNode *in = static_type_of(call.args()[0]), *weight = static_type_of(call.args()[1]);
  const auto* type = as_type<TensorTypeNode>(call.checked_type());
  if (!in || !weight || !type || !type->is_static()) return {};
  const int64_t channels = in->extents()[axes.data.axis], outputs = type->extents()[axes.result.axis];
  if (groups != channels || outputs != channels) return {};
  const int o = axes.weight_output.axis, i = axes.weight_input.axis;
  const int axis = weight->extents()[o] == channels && weight->extents()[i] == 1   ? o
                   : weight->extents()[i] == channels && weight->extents()[o] == 1 ? i
                                                                                   : -1;
  if (axis < 0) return {};
  return {axes.data, axes.result, {axis, -1, 0}, {axis, -1, 0}};
}

/// A scale absorbed by the weight, input 1.
std::optional<ScalePlan> into_weight(const ChannelAxes& axes, const ChannelAxes& weight) {
  if (axes.axis < 0 || weight.axis < 0 || axes.size != weight.size) return std::nullopt;
  return ScalePlan{{axes.axis, false, false, axes.block}, {{}, {What::kMultiply, weight.axis, weight.block}}};
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
    return takes && takes->block < 0 && data &&
           front_axis(int_attr(call, "axis"), data->rank()) == takes->axis;
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
            return into_weight({last(call.args()[0])}, {0});
          },
          [last](const CallNode& call, int index, const Takes&) -> std::optional<ScalePlan> {
            return index == 0 ? into_weight({last(call.args()[0])}, {1}) : std::nullopt;
          }};
}

}  // namespace baton
