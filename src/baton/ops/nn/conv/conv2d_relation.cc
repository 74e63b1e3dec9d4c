#include "baton/ops/nn/conv/conv2d_relation.h"

#include "baton/ops/shared/spatial.h"
#include "baton/ops/relations.h"

namespace baton {

namespace {

// What both relations need: the data as N, C, H, W and everything that the attributes say.
struct Conv2DFacts {
  Layout data_layout, kernel_layout, out_layout;
  std::vector<Dim> data;  // N, C, H, W
  Padding2D padding;
  DType out_dtype;
};

// Nothing when a mistake was reported. The data's type is known.
std::optional<Conv2DFacts> read_conv2d(RelationContext& ctx, const Conv2DAttrs& attrs) {
  const TensorTypeNode& data = *ctx.tensor(0);
  const bool grouped = attrs.kernel_layout.find('G') != std::string::npos;
  const auto data_layout = checked_layout(ctx, "data_layout", attrs.data_layout, "NCHW");
  if (!data_layout) return std::nullopt;
  const auto kernel_layout =
      checked_layout(ctx, "kernel_layout", attrs.kernel_layout, grouped ? "GOIHW" : "OIHW");
  if (!kernel_layout) return std::nullopt;
  const auto out_layout =
      attrs.out_layout.empty() ? data_layout : checked_layout(ctx, "out_layout", attrs.out_layout, "NCHW");
  if (!out_layout || !check_rank(ctx, data, data_layout->rank(), 0)) return std::nullopt;
  if (!check_count(ctx, "strides", attrs.strides, 2) || !check_least(ctx, "strides", attrs.strides, 1))
    return std::nullopt;
  if (!check_count(ctx, "dilation", attrs.dilation, 2) || !check_least(ctx, "dilation", attrs.dilation, 1))
    return std::nullopt;
  if (!check_least(ctx, "groups", {&attrs.groups, 1}, 1)) return std::nullopt;
  if (attrs.kernel_size && (!check_count(ctx, "kernel_size", *attrs.kernel_size, 2) ||
                            !check_least(ctx, "kernel_size", *attrs.kernel_size, 1)))
    return std::nullopt;
  const auto padding = padding_2d(attrs.padding);
  if (!padding) {
    fail_attr(ctx, "padding", attr_text(AttrValue(attrs.padding)), "1, 2 or 4 values are needed");
    return std::nullopt;
  }
  DType out_dtype = attrs.out_dtype.is_void() ? data.dtype() : attrs.out_dtype;
  if (const TensorTypeNode* weight = ctx.tensor(1); weight && out_dtype.is_void())
    out_dtype = weight->dtype();
  return Conv2DFacts{*data_layout, *kernel_layout,
                     *out_layout,  convert_shape(data.shape(), *data_layout, *Layout::parse("NCHW")),
                     *padding,     out_dtype};
}

Dim out_extent(Dim in, int64_t padding, Dim kernel, int64_t dilation, int64_t stride) {
  if (in.is_any() || kernel.is_any()) return Dim::any();
  // Rounded down, also when the window is larger than the padded data: then the result is empty or refused
  // below.
  const int64_t free = in.value() + padding - ((kernel.value() - 1) * dilation + 1);
  return free < 0 ? 0 : free / stride + 1;
}

RelationStatus assign_conv2d_result(RelationContext& ctx, const Conv2DAttrs& attrs, const Conv2DFacts& conv,
                                    Dim channels, Dim kernel_h, Dim kernel_w) {
  const Dim height =
      out_extent(conv.data[2], conv.padding.height(), kernel_h, attrs.dilation[0], attrs.strides[0]);
  const Dim width =
      out_extent(conv.data[3], conv.padding.width(), kernel_w, attrs.dilation[1], attrs.strides[1]);
  if (height == Dim(0) || width == Dim(0))
    return fail_arg(ctx, 0,
                    "the window of " + std::to_string(kernel_h.value()) + " x " +
                        std::to_string(kernel_w.value()) + " does not fit into data of shape " +
                        shape_text(ctx.tensor(0)->shape()));
  const std::vector<Dim> nchw{conv.data[0], channels, height, width};
  return ctx.assign_result(
      tensor_type(convert_shape(nchw, *Layout::parse("NCHW"), conv.out_layout), conv.out_dtype));
}

}  // namespace

Conv2DAttrs plain_attrs(const Conv2DWinogradAttrs& a) {
  return {a.strides,     a.padding,     a.dilation,      a.groups,     a.channels,
          a.kernel_size, a.data_layout, a.kernel_layout, a.out_layout, a.out_dtype};
}

RelationStatus conv2d_relation(RelationContext& ctx, const Conv2DAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  const std::optional<Conv2DFacts> conv = read_conv2d(ctx, attrs);
  if (!conv) return kFailed;
  const Layout& layout = conv->kernel_layout;
  const bool grouped = layout.find('G') >= 0;
  const Layout canonical = *Layout::parse(grouped ? "GOIHW" : "OIHW");
  const size_t o = grouped ? 1 : 0;
  const Dim in_channels = conv->data[1];
  const int64_t groups = attrs.groups;

  const TensorTypeNode* weight = ctx.tensor(1);
  if (weight && !check_rank(ctx, *weight, layout.rank(), 1)) return kFailed;
  const std::vector<Dim> known =
      weight ? convert_shape(weight->shape(), layout, canonical) : std::vector<Dim>();

  if (attrs.kernel_size && attrs.channels) {
    if (!weight && groups > 1) return kDefer;  // O of the weight tells whether it is depthwise
    const Dim kernel_h = (*attrs.kernel_size)[0], kernel_w = (*attrs.kernel_size)[1];
    std::vector<Dim> shape;
    if (grouped) {
      shape = {groups, *attrs.channels / groups, divided(in_channels, groups), kernel_h, kernel_w};
    } else if (groups > 1 && in_channels == Dim(groups) && known[0] == Dim(groups)) {
      shape = {groups, *attrs.channels / groups, kernel_h, kernel_w};
    } else {
      shape = {*attrs.channels, divided(in_channels, groups), kernel_h, kernel_w};
    }
    const DType dtype = weight ? weight->dtype() : data->dtype();
    if (ctx.assign(1, tensor_type(convert_shape(shape, canonical, layout), dtype)) == kFailed) return kFailed;
    return assign_conv2d_result(ctx, attrs, *conv, *attrs.channels, kernel_h, kernel_w);
  }

  if (!weight) return kDefer;
  const Dim kernel_h = known[o + 2], kernel_w = known[o + 3];
  const Dim out_channels = grouped ? times(known[0], known[1]) : known[0];
  if (attrs.kernel_size &&
      (Dim((*attrs.kernel_size)[0]) != kernel_h || Dim((*attrs.kernel_size)[1]) != kernel_w))
    return fail_attr(ctx, "kernel_size", attr_text(AttrValue(*attrs.kernel_size)),
                     "the weight has shape " + shape_text(weight->shape()) + " in layout " + layout.str());
  if (attrs.channels && Dim(*attrs.channels) != out_channels)
    return fail_attr(ctx, "channels", std::to_string(*attrs.channels),
                     "the weight has shape " + shape_text(weight->shape()) + " in layout " + layout.str());
  const Dim needed = divided(in_channels, groups);
  if (!needed.is_any() && !known[o + 1].is_any() && known[o + 1] != needed)
    return fail_arg(ctx, 1,
                    std::to_string(in_channels.value()) + " input channels in " + std::to_string(groups) +
                        " groups need a weight with " + std::to_string(needed.value()) +
                        " input channels, got " + type_text(ctx.input(1)));
  return assign_conv2d_result(ctx, attrs, *conv, out_channels, kernel_h, kernel_w);
}

RelationStatus packed_conv2d_relation(RelationContext& ctx, const Conv2DAttrs& attrs) {
  if (!ctx.tensor(0)) return kDefer;
  const std::optional<Conv2DFacts> conv = read_conv2d(ctx, attrs);
  if (!conv) return kFailed;
  if (!attrs.channels) return fail_attr(ctx, "channels", "None", "it is needed, as the weight is packed");
  if (!attrs.kernel_size)
    return fail_attr(ctx, "kernel_size", "None", "it is needed, as the weight is packed");
  return assign_conv2d_result(ctx, attrs, *conv, *attrs.channels, (*attrs.kernel_size)[0],
                              (*attrs.kernel_size)[1]);
}

}  // namespace baton
