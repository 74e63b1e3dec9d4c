// Convolutions over one and three spatial axes.
#include <algorithm>

#include "baton/ir/rules/brief.h"
#include "baton/ir/rules/quantization_rule.h"
#include "baton/ops/nn/conv/conv_by_positions.h"
#include "baton/ops/nn/conv/conv_nd.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/rules/scale_rules.h"
#include "baton/ops/shared/conv_attrs.h"
#include "baton/ops/shared/spatial.h"

namespace baton {

template <>
const AttrSchema& attr_schema<Conv1DAttrs>() {
  static const AttrSchema schema =
      make_schema<Conv1DAttrs>("relay.attrs.Conv1DAttrs", conv_fields<Conv1DAttrs>());
  return schema;
}

template <>
const AttrSchema& attr_schema<Conv3DAttrs>() {
  static const AttrSchema schema =
      make_schema<Conv3DAttrs>("relay.attrs.Conv3DAttrs", conv_fields<Conv3DAttrs>());
  return schema;
}

namespace {

template <class A, int kCount>
RelationStatus conv_relation(RelationContext& ctx, const A& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  const std::optional<ConvFacts> conv = read_conv(ctx, attrs, kCount);
  if (!conv) return kFailed;
  const TensorTypeNode* weight = ctx.tensor(1);
  if (weight && !check_in_layout(ctx, *weight, conv->kernel_layout, 1)) return kFailed;
  const std::vector<Dim> known =
      weight ? convert_shape(weight->shape(), conv->kernel_layout, conv->kernel_canonical)
             : std::vector<Dim>();
  const Dim in_channels = conv->data[1], needed = divided(in_channels, attrs.groups);

  if (attrs.channels && attrs.kernel_size) {
    const std::vector<Dim> kernel(attrs.kernel_size->begin(), attrs.kernel_size->end());
    std::vector<Dim> shape{*attrs.channels, needed};
    // A depthwise weight may be written with the multiplier as its second axis.
    if (weight && attrs.groups > 1 && in_channels == Dim(attrs.groups) && known[0] == Dim(attrs.groups))
      shape = {attrs.groups, *attrs.channels / attrs.groups};
    shape.insert(shape.end(), kernel.begin(), kernel.end());
    const DType dtype = weight ? weight->dtype() : data->dtype();
    if (ctx.assign(1, tensor_type(convert_shape(shape, conv->kernel_canonical, conv->kernel_layout),
                                  dtype)) == kFailed)
      return kFailed;
    return assign_conv_result(ctx, attrs, *conv, *attrs.channels, kernel);
  }

  if (!weight) return kDefer;
  const std::vector<Dim> kernel(known.begin() + 2, known.end());
  const std::string written =
      "the weight has shape " + shape_text(weight->shape()) + " in layout " + conv->kernel_layout.str();
  if (attrs.kernel_size)
    for (int i = 0; i < kCount; ++i)
      if (!may_equal((*attrs.kernel_size)[i], kernel[i]))
        return fail_attr(ctx, "kernel_size", attr_text(AttrValue(*attrs.kernel_size)), written);
  if (attrs.channels && !may_equal(*attrs.channels, known[0]))
    return fail_attr(ctx, "channels", std::to_string(*attrs.channels), written);
  if (!may_equal(needed, known[1]))
    return fail_arg(ctx, 1,
                    std::to_string(in_channels.value()) + " input channels in " +
                        std::to_string(attrs.groups) + " groups need a weight with " +
                        std::to_string(needed.value()) + " input channels, got " + type_text(ctx.input(1)));
  return assign_conv_result(ctx, attrs, *conv, known[0], kernel);
}

bool is_any_set(const std::vector<int64_t>& values) {
  return std::any_of(values.begin(), values.end(), [](int64_t value) { return value != 0; });
}

// By positions where that form fits; else stages "pad" (if there is padding), "conv" and "out".
void conv_nd_compute(Compute& c, const ConvNd& conv) {
  if (conv_by_positions(c, conv)) return;
  const Layout canonical = *Layout::parse(data_letters(conv.count)),
               kernel_canonical = *Layout::parse(std::string("OI") + spatial_letters(conv.count));
  const Tensor &data = c.in(0), &weight = c.in(1);
  const std::vector<Dim> in = convert_shape(data.dims(), conv.data_layout, canonical);
  const std::vector<int64_t> kernel = convert_shape(weight.shape(), conv.kernel_layout, kernel_canonical);
  const int64_t in_channels = number_of(in[1], "a number for the input channels"),
                channels = number_of(convert_shape(c.out().shape(), conv.out_layout, canonical)[1],
                                     "a number for the output channels");
  const Halide::Type type = halide_type(c.out().dtype());
  check_groups(conv.groups, in_channels, channels);
  Halide::Func padded;
  if (is_any_set(conv.before) || is_any_set(conv.after)) {
    padded = c.stage("pad");
    const Axes j(2 + conv.count, "p");
    Index at = j.exprs();
    Halide::Expr inside = Halide::Internal::const_true();
    for (int k = 0; k < conv.count; ++k) {
      const Halide::Expr position = j[2 + k] - as_int(conv.before[k]);
      inside = inside && position >= 0 && position < as_expr(in[2 + k]);
      at[2 + k] = inside_axis(position, in[2 + k]);
      c.needs_elements(in[2 + k]);
    }
    padded(j.reversed()) = select(inside, cast(type, at_plain(data, conv.data_layout, at)), cast(type, 0));
  }

  const int out_per_group = as_int(channels / conv.groups), in_per_group = as_int(in_channels / conv.groups);
  std::vector<Dim> extents(kernel.begin() + 2, kernel.end());
  extents.insert(extents.begin(), in_per_group);
  const Domain r(extents);
  const Axes i(conv.out_layout.rank());
  const Index to = convert_index<Halide::Expr>(i.exprs(), conv.out_layout, canonical);
  const Halide::Expr group = conv.groups == 1 ? Halide::Expr(0) : to[1] / out_per_group;
  // Relay's depthwise weight may be stored (groups, multiplier, ...): then `O` is the group and `I` the
  // multiplier.
  const bool by_group = conv.groups > 1 && kernel[0] == conv.groups && kernel[0] != channels;
  check_filled_blocks(channels, by_group ? kernel[0] * kernel[1] : kernel[0]);
  Index from{to[0], group * in_per_group + r[0]}, tap{to[1], r[0]};
  if (by_group) tap = {group, to[1] % out_per_group};
  for (int k = 0; k < conv.count; ++k) {
    from.push_back(to[2 + k] * as_int(conv.strides[k]) + r[1 + k] * as_int(conv.dilation[k]));
    tap.push_back(r[1 + k]);
  }
  const Halide::Expr value =
      padded.defined() ? padded(reversed(from)) : cast(type, at_plain(data, conv.data_layout, from));
  Halide::Func sum = c.stage("conv");
  sum(i.reversed()) = cast(type, 0);
  sum(i.reversed()) +=
      value * cast(type, weight(convert_index<Halide::Expr>(tap, kernel_canonical, conv.kernel_layout)));
  c.result(copy_stage(c, sum));
}

}  // namespace

const OpDef& op_nn_conv1d() {
  static const OpDef def = OpSpec<Conv1DAttrs>{
      .name = "nn.conv1d",
      .doc =
          "Convolution over one axis: out[n, o, x] = sum over i, dx of data[n, i, x * stride + dx * "
          "dilation] * weight[o, i, dx].",
      .inputs = {{"data", "3-D tensor in data_layout"}, {"weight", "3-D tensor in kernel_layout"}},
      .fuse = Fuse::kOutFusable,
      .relation = conv_relation<Conv1DAttrs, 1>,
      .compute = [](Compute& c, const Conv1DAttrs& attrs) { conv_nd_compute(c, conv_nd(attrs, 1)); },
      .cost = conv_cost,
      .python =
          "nn.conv1d(data, weight, strides=1, padding=0, dilation=1, groups=1, channels=None, "
          "kernel_size=None, data_layout='NCW', kernel_layout='OIW', out_layout='', out_dtype='')",
      .rules = op_rules(conv_brief(), MixedPrecision::kAlways, conv_layout_flow(), OwnPadding::kConvolution,
                        QuantizationRule{QuantizationRule::Does::kLayer}, AnchorRule{"conv_plain"}),
      .test_shapes =
          {"(1, 3, 10)f32, (4, 3, 3)f32, dilation=[2], channels=4, kernel_size=[3]",
           "(2, 3, 10)f32, (4, 3, 3)f32, strides=[2], padding=[1, 1], channels=4, kernel_size=[3]"},
  };
  return def;
}

const OpDef& op_nn_conv3d() {
  static const OpDef def = OpSpec<Conv3DAttrs>{
      .name = "nn.conv3d",
      .doc = "Convolution over depth, height and width.",
      .inputs = {{"data", "5-D tensor in data_layout"}, {"weight", "5-D tensor in kernel_layout"}},
      .fuse = Fuse::kOutFusable,
      .relation = conv_relation<Conv3DAttrs, 3>,
      .compute = [](Compute& c, const Conv3DAttrs& attrs) { conv_nd_compute(c, conv_nd(attrs, 3)); },
      .cost = conv_cost,
      .rules = op_rules(conv_brief(), conv_scale_rule(), MixedPrecision::kAlways, conv_layout_flow(),
                        ConvertedLayout::kConvolution, OwnPadding::kConvolution, AnchorRule{"conv_plain"}),
      .test_shapes = {"(1, 4, 4, 4, 2)f32, (2, 2, 2, 2, 3)f32, padding=[0, 0, 0, 0, 0, 0], channels=3, "
                      "kernel_size=[2, 2, 2], data_layout=NDHWC, kernel_layout=DHWIO"},
  };
  return def;
}

}  // namespace baton
