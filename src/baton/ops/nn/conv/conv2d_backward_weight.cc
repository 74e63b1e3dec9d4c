#include "baton/ops/domain.h"
#include "baton/ops/nn/conv/conv_nd.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/shared/conv_attrs.h"
#include "baton/ops/shared/spatial.h"

namespace baton {

namespace {

// Here data_layout is the gradient's layout, kernel_layout the data's, and out_layout that of the weight, the
// result.
RelationStatus backward_weight_relation(RelationContext& ctx, const Conv2DAttrs& attrs) {
  const TensorTypeNode *grad = ctx.tensor(0), *data = ctx.tensor(1);
  if (!grad || !data) return kDefer;
  const auto grad_layout = checked_layout(ctx, "data_layout", attrs.data_layout, "NCHW");
  if (!grad_layout) return kFailed;
  const auto data_layout = checked_layout(ctx, "kernel_layout", attrs.kernel_layout, "NCHW");
  if (!data_layout) return kFailed;
  const auto out_layout =
      checked_layout(ctx, "out_layout", attrs.out_layout.empty() ? "OIHW" : attrs.out_layout, "OIHW");
  if (!out_layout || !check_in_layout(ctx, *grad, *grad_layout, 0) ||
      !check_in_layout(ctx, *data, *data_layout, 1))
    return kFailed;
  if (!check_least(ctx, "groups", {&attrs.groups, 1}, 1)) return kFailed;
  if (!attrs.channels)
    return fail_attr(ctx, "channels", "None", "it is needed, as there is no weight to read it from");
  if (!attrs.kernel_size)
    return fail_attr(ctx, "kernel_size", "None", "it is needed, as there is no weight to read it from");
  if (!check_least(ctx, "channels", {&*attrs.channels, 1}, 1) ||
      !check_lists(ctx, {{"kernel_size", &*attrs.kernel_size}}, 2))
    return kFailed;
  const Layout nchw = *Layout::parse("NCHW"), oihw = *Layout::parse("OIHW");
  const std::vector<Dim> in = convert_shape(data->shape(), *data_layout, nchw),
                         out = convert_shape(grad->shape(), *grad_layout, nchw);
  const Dim in_channels = in[1], out_channels = out[1];
  if (!may_equal(in[0], out[0]))
    return fail_arg(ctx, 1,
                    "the gradient is of " + extent_text(out[0]) + " images, the data " +
                        type_text(ctx.input(1)) + " of " + extent_text(in[0]));
  if (!may_equal(out_channels, *attrs.channels))
    return fail_attr(ctx, "channels", std::to_string(*attrs.channels),
                     "the gradient has " + std::to_string(out_channels.value()) + " channels");
  const std::vector<Dim> weight{*attrs.channels, divided(in_channels, attrs.groups), (*attrs.kernel_size)[0],
                                (*attrs.kernel_size)[1]};
  return ctx.assign_result(tensor_type(convert_shape(weight, oihw, *out_layout),
                                       attrs.out_dtype.is_void() ? grad->dtype() : attrs.out_dtype));
}

// Inputs: gradient by the result, data. Here kernel_layout is the data's layout and out_layout the weight's.
void conv2d_backward_weight_compute(Compute& c, const Conv2DAttrs& attrs) {
  const Layout nchw = *Layout::parse("NCHW"), oihw = *Layout::parse("OIHW");
  const Layout grad_layout = *Layout::parse(attrs.data_layout),
               data_layout = *Layout::parse(attrs.kernel_layout);
  const Layout out_layout = *Layout::parse(attrs.out_layout.empty() ? "OIHW" : attrs.out_layout);
  const Tensor &grad = c.in(0), &data = c.in(1);
  const std::vector<Dim> result = convert_shape(grad.dims(), grad_layout, nchw),
                         in = convert_shape(data.dims(), data_layout, nchw);
  const int64_t channels = number_of(result[1], "a number for the output channels"),
                in_channels = number_of(in[1], "a number for the input channels");
  const Padding2D pad = *padding_2d(attrs.padding);
  check_groups(attrs.groups, in_channels, channels);
  const int out_per_group = as_int(channels / attrs.groups),
            in_per_group = as_int(in_channels / attrs.groups);
  const Halide::Type type = halide_type(c.out().dtype());
  const Axes i(out_layout.rank());
  const Index w = convert_index<Halide::Expr>(i.exprs(), out_layout, oihw);
  const Domain r({result[0], result[2], result[3]});
  const Halide::Expr channel = attrs.groups == 1 ? w[1] : w[0] / out_per_group * in_per_group + w[1];
  const Halide::Expr y = r[1] * as_int(attrs.strides[0]) + w[2] * as_int(attrs.dilation[0]) - as_int(pad.top);
  const Halide::Expr x =
      r[2] * as_int(attrs.strides[1]) + w[3] * as_int(attrs.dilation[1]) - as_int(pad.left);
  const Halide::Expr inside = y >= 0 && y < as_expr(in[2]) && x >= 0 && x < as_expr(in[3]);
  c.needs_elements(in[2]), c.needs_elements(in[3]);
  const Halide::Expr value =
      at_plain(data, data_layout, {r[0], channel, inside_axis(y, in[2]), inside_axis(x, in[3])});
  Halide::Func sum = c.stage("backward_weight");
  sum(i.reversed()) = cast(type, 0);
  sum(i.reversed()) += select(inside, cast(type, value), cast(type, 0)) *
                       cast(type, at_plain(grad, grad_layout, {r[0], w[0], r[1], r[2]}));
  c.result(copy_stage(c, sum));
}

}  // namespace

const OpDef& op_nn_conv2d_backward_weight() {
  static const OpDef def = OpSpec<Conv2DAttrs>{
      .name = "nn.conv2d_backward_weight",
      .doc =
          "The gradient of nn.conv2d by its weight. data_layout is the gradient's layout, kernel_layout the "
          "data's, out_layout the weight's.",
      .inputs = {{"grad", "gradient by the convolution's result"}, {"data", "the convolution's data"}},
      .fuse = Fuse::kOutFusable,
      .relation = backward_weight_relation,
      .compute = conv2d_backward_weight_compute,
      .cost = conv_weight_gradient_cost,
      .rules = op_rules(conv_layout_flow()),
      .test_shapes = {"(1, 4, 6, 6)f32, (1, 3, 8, 8)f32, channels=4, kernel_size=[3, 3], kernel_layout=NCHW, "
                      "out_layout=OIHW"},
  };
  return def;
}

}  // namespace baton
