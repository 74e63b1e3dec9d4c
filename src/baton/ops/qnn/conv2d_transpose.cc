#include "baton/ops/nn/conv_attrs.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/qnn/qnn_attrs.h"
#include "baton/ops/qnn/quant_types.h"

namespace baton {

namespace {

__extension__ typedef __int128 Wide;  // no attribute and no shape can overflow it

bool may_be(Dim a, Dim b) { return a.is_any() || b.is_any() || a == b; }
Dim over(Dim dim, int64_t by) { return dim.is_any() ? dim : Dim(dim.value() / by); }

bool check_pair(RelationContext& ctx, const char* name, const std::vector<int64_t>& values, int64_t least) {
  return check_count(ctx, name, values, 2) && check_least(ctx, name, values, least);
}

bool check_attrs(RelationContext& ctx, const QnnConv2DTransposeAttrs& attrs) {
  if (!check_pair(ctx, "strides", attrs.strides, 1) || !check_pair(ctx, "dilation", attrs.dilation, 1)) return false;
  if (!check_pair(ctx, "output_padding", attrs.output_padding, 0)) return false;
  if (!check_least(ctx, "groups", {&attrs.groups, 1}, 1) || !check_least(ctx, "padding", attrs.padding, 0)) return false;
  if (attrs.channels && !check_least(ctx, "channels", {&*attrs.channels, 1}, 1)) return false;
  return !attrs.kernel_size || check_pair(ctx, "kernel_size", *attrs.kernel_size, 1);
}

// How far the result reaches along one axis; nothing after a report.
std::optional<Dim> result_extent(RelationContext& ctx, const QnnConv2DTransposeAttrs& attrs, size_t axis, Dim in, Dim kernel, Wide padding) {
  if (in.is_any() || kernel.is_any()) return Dim::any();
  const Wide reach = static_cast<Wide>(kernel.value() - 1) * attrs.dilation[axis] + 1;
  const Wide extent = static_cast<Wide>(in.value() - 1) * attrs.strides[axis] + reach - padding + attrs.output_padding[axis];
  if (extent >= 1 && extent <= INT64_MAX) return Dim(static_cast<int64_t>(extent));
  fail_attr(ctx, "padding", attr_text(AttrValue(attrs.padding)), extent < 1 ? "nothing is left of the result" : "the result is too large");
  return std::nullopt;
}

RelationStatus relation(RelationContext& ctx, const QnnConv2DTransposeAttrs& attrs) {
  if (!tensors_known(ctx, 0, 5)) return kDefer;
  if (!check_product_types(ctx, attrs.out_dtype) || !check_attrs(ctx, attrs)) return kFailed;
  const TensorTypeNode& data = *ctx.tensor(0);
  const TensorTypeNode& weight = *ctx.tensor(1);
  const bool grouped = attrs.kernel_layout.find('G') != std::string::npos;
  const char* kernel_axes = grouped ? "GIOHW" : "IOHW";
  const auto layout = checked_layout(ctx, "data_layout", attrs.data_layout, "NCHW");
  if (!layout) return kFailed;
  const auto kernel_layout = checked_layout(ctx, "kernel_layout", attrs.kernel_layout, kernel_axes);
  if (!kernel_layout) return kFailed;
  const auto out_layout = attrs.out_layout.empty() ? layout : checked_layout(ctx, "out_layout", attrs.out_layout, "NCHW");
  if (!out_layout || !check_rank(ctx, data, layout->rank(), 0) || !check_rank(ctx, weight, kernel_layout->rank(), 1)) return kFailed;
  const auto padding = padding_2d(attrs.padding);
  if (!padding) return fail_attr(ctx, "padding", attr_text(AttrValue(attrs.padding)), "1, 2 or 4 values are needed");

  const Layout canonical = *Layout::parse("NCHW"), kernel_canonical = *Layout::parse(kernel_axes);
  const std::vector<Dim> in = convert_shape(data.shape(), *layout, canonical);
  std::vector<Dim> known = convert_shape(weight.shape(), *kernel_layout, kernel_canonical);
  const size_t i = grouped ? 1 : 0;  // where the weight's input channels are
  Dim channels = grouped ? times(known[0], known[2]) : known[1];
  if (attrs.channels && attrs.kernel_size) {
    channels = *attrs.channels;
    std::vector<Dim> shape{in[1], over(channels, attrs.groups)};
    if (grouped) shape = {attrs.groups, over(in[1], attrs.groups), over(channels, attrs.groups)};
    shape.insert(shape.end(), attrs.kernel_size->begin(), attrs.kernel_size->end());
    if (ctx.assign(1, tensor_type(convert_shape(shape, kernel_canonical, *kernel_layout), weight.dtype())) == kFailed) return kFailed;
    known = shape;
  } else {
    const std::string seen = "the weight has shape " + shape_text(weight.shape()) + " in layout " + kernel_layout->str();
    if (attrs.kernel_size && (!may_be((*attrs.kernel_size)[0], known[i + 2]) || !may_be((*attrs.kernel_size)[1], known[i + 3])))
      return fail_attr(ctx, "kernel_size", attr_text(AttrValue(*attrs.kernel_size)), seen);
    if (attrs.channels && !may_be(*attrs.channels, channels))
      return fail_attr(ctx, "channels", std::to_string(*attrs.channels), seen);
    if (!may_be(over(in[1], attrs.groups), known[i]))
      return fail_arg(ctx, 1, seen + ", and the data " + std::to_string(in[1].value()) + " channels in " + std::to_string(attrs.groups) + " groups");
  }
  if (!check_per_channel(ctx, 5, kScaleType, channels)) return kFailed;

  const Wide vertical = static_cast<Wide>(padding->top) + padding->bottom, horizontal = static_cast<Wide>(padding->left) + padding->right;
  const auto height = result_extent(ctx, attrs, 0, in[2], known[i + 2], vertical);
  if (!height) return kFailed;
  const auto width = result_extent(ctx, attrs, 1, in[3], known[i + 3], horizontal);
  if (!width) return kFailed;
  const std::vector<Dim> nchw{in[0], channels, *height, *width};
  return ctx.assign_result(tensor_type(convert_shape(nchw, canonical, *out_layout), attrs.out_dtype));
}

}  // namespace

const OpDef& op_qnn_conv2d_transpose() {
  static const OpDef def = OpSpec<QnnConv2DTransposeAttrs>{
      .name = "qnn.conv2d_transpose",
      .doc = "nn.conv2d_transpose of (data - its zero point) and (weight - its zero point), in integers.",
      .inputs = {{"data", "quantised 4-D tensor in data_layout"},
                 {"weight", "quantised 4-D tensor in kernel_layout"},
                 {"input_scale", "third in a call: the zero point of the data, int32 scalar"},
                 {"input_zero_point", "fourth: the zero point of the weight, int32"},
                 {"weight_scale", "fifth: the scale of the data, float32 scalar"},
                 {"weight_zero_point", "sixth: the scale of the weight, float32 scalar or one value per output channel"}},
      .relation = relation,
      .non_computational = true,
  };
  return def;
}

}  // namespace baton
