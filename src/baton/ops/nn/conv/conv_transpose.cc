// Transposed convolutions over one, two and three spatial axes. Kernels are made by phases
// (conv_transpose_by_phases) where that form fits, else directly from the definition, for all types and
// layouts.
#include "baton/ops/nn/conv/conv_transpose.h"

#include "baton/ir/rules/brief.h"
#include "baton/ir/rules/layer_kind.h"
#include "baton/ir/rules/pass_traits.h"
#include "baton/ops/nn/conv/conv_nd.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/rules/fake_quantization_rules.h"
#include "baton/ops/shared/spatial.h"

namespace baton {

namespace {

template <class A>
std::vector<AttrSpec<A>> transpose_fields() {
  std::vector<AttrSpec<A>> fields;
  add_kernel(fields);
  fields.push_back({"strides", inherited<A>(&A::strides),
                    "step of the result along each spatial axis, for one step of the data"});
  fields.push_back({"output_padding", inherited<A>(&A::output_padding),
                    "elements added to one side of the result, for each spatial axis"});
  fields.push_back(
      {"padding", inherited<A>(&A::padding),
       "elements cut off the result: one value, one per axis, or all befores and then all afters"});
  fields.push_back(
      {"dilation", inherited<A>(&A::dilation), "distance of the kernel's taps along each spatial axis"});
  add_groups(fields);
  add_layouts(fields);
  return fields;
}

}  // namespace

template <>
const AttrSchema& attr_schema<Conv1DTransposeAttrs>() {
  using A = Conv1DTransposeAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.Conv1DTransposeAttrs", transpose_fields<A>());
  return schema;
}

template <>
const AttrSchema& attr_schema<Conv2DTransposeAttrs>() {
  using A = Conv2DTransposeAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.Conv2DTransposeAttrs", transpose_fields<A>());
  return schema;
}

template <>
const AttrSchema& attr_schema<Conv3DTransposeAttrs>() {
  using A = Conv3DTransposeAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.Conv3DTransposeAttrs", transpose_fields<A>());
  return schema;
}

namespace {

// The weight as (input channels, output channels, spatial...). Relay calls that order OIW and OIDHW, but
// IOHW.
std::string kernel_letters(int count) {
  return (count == 2 ? "IO" : "OI") + std::string(spatial_letters(count));
}

bool is_grouped(const std::string& kernel_layout, int count) {
  return count == 2 && kernel_layout.find('G') != std::string::npos;
}

template <class A, int kCount>
RelationStatus transpose_relation(RelationContext& ctx, const A& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  const bool grouped = is_grouped(attrs.kernel_layout, kCount);
  const std::string kernel_name = (grouped ? "G" : "") + kernel_letters(kCount);
  const auto data_layout = checked_layout(ctx, "data_layout", attrs.data_layout, data_letters(kCount));
  if (!data_layout) return kFailed;
  const auto layout = checked_layout(ctx, "kernel_layout", attrs.kernel_layout, kernel_name.c_str());
  if (!layout) return kFailed;
  const auto out_layout = attrs.out_layout.empty()
                              ? data_layout
                              : checked_layout(ctx, "out_layout", attrs.out_layout, data_letters(kCount));
  if (!out_layout || !check_in_layout(ctx, *data, *data_layout, 0)) return kFailed;
  if (!check_lists(ctx, {{"strides", &attrs.strides}, {"dilation", &attrs.dilation}}, kCount)) return kFailed;
  if (!check_lists(ctx, {{"output_padding", &attrs.output_padding}}, kCount, 0)) return kFailed;
  if (!check_least(ctx, "groups", {&attrs.groups, 1}, 1)) return kFailed;
  if (attrs.channels && !check_least(ctx, "channels", {&*attrs.channels, 1}, 1)) return kFailed;
  if (attrs.kernel_size && !check_lists(ctx, {{"kernel_size", &*attrs.kernel_size}}, kCount)) return kFailed;
  const auto padding = padding_sums(ctx, attrs.padding, kCount);
  if (!padding) return kFailed;

  const Layout canonical = *Layout::parse(data_letters(kCount)),
               kernel_canonical = *Layout::parse(kernel_name);
  const std::vector<Dim> in = convert_shape(data->shape(), *data_layout, canonical);
  const TensorTypeNode* weight = ctx.tensor(1);
  if (weight && !check_in_layout(ctx, *weight, *layout, 1)) return kFailed;
  std::vector<Dim> kernel;
  Dim channels = 1;
  if (attrs.channels && attrs.kernel_size) {
    channels = *attrs.channels;
    kernel.assign(attrs.kernel_size->begin(), attrs.kernel_size->end());
    std::vector<Dim> shape{in[1], divided(channels, attrs.groups)};
    if (grouped) shape = {attrs.groups, divided(in[1], attrs.groups), divided(channels, attrs.groups)};
    shape.insert(shape.end(), kernel.begin(), kernel.end());
    const DType dtype = weight ? weight->dtype() : data->dtype();
    if (ctx.assign(1, tensor_type(convert_shape(shape, kernel_canonical, *layout), dtype)) == kFailed)
      return kFailed;
  } else {
    if (!weight) return kDefer;
    const std::vector<Dim> known = convert_shape(weight->shape(), *layout, kernel_canonical);
    const int at = grouped ? 1 : 0;
    kernel.assign(known.begin() + at + 2, known.end());
    const auto all = grouped ? checked_product(ctx, {known[0], known[2]}) : known[1];
    if (!all) return kFailed;
    channels = *all;
    const std::string written =
        "the weight has shape " + shape_text(weight->shape()) + " in layout " + layout->str();
    if (attrs.kernel_size)
      for (int i = 0; i < kCount; ++i)
        if (!may_equal((*attrs.kernel_size)[i], kernel[i]))
          return fail_attr(ctx, "kernel_size", attr_text(AttrValue(*attrs.kernel_size)), written);
    if (attrs.channels && !may_equal(*attrs.channels, channels))
      return fail_attr(ctx, "channels", std::to_string(*attrs.channels), written);
    const Dim needed = divided(in[1], attrs.groups);
    if (!may_equal(needed, known[at]))
      return fail_arg(ctx, 1,
                      "the data's " + extent_text(in[1]) + " channels in " + std::to_string(attrs.groups) +
                          " groups do not fit the weight's type " + type_text(ctx.input(1)));
  }

  std::vector<Dim> shape{in[0], channels};
  for (int i = 0; i < kCount; ++i) {
    if (in[2 + i].is_any() || kernel[i].is_any()) {
      const Dim reach = (kernel[i] - 1) * attrs.dilation[i] + 1;
      shape.push_back((in[2 + i] - 1) * attrs.strides[i] + reach - (*padding)[i] + attrs.output_padding[i]);
      continue;
    }
    const WideInt reach = static_cast<WideInt>(kernel[i].value() - 1) * attrs.dilation[i] + 1;
    const WideInt steps = static_cast<WideInt>(in[2 + i].value() - 1) * attrs.strides[i];
    const auto extent = checked_extent(ctx, steps + reach - (*padding)[i] + attrs.output_padding[i]);
    if (!extent) return kFailed;
    if (*extent == Dim(0))
      return fail_attr(ctx, "padding", attr_text(AttrValue(attrs.padding)), "nothing is left of the result");
    shape.push_back(*extent);
  }
  const DType dtype = attrs.out_dtype.is_void() ? data->dtype() : attrs.out_dtype;
  return ctx.assign_result(tensor_type(convert_shape(shape, canonical, *out_layout), dtype));
}

// `kernel_letters` names the weight's axes in the order (groups,) input channels, output channels of a
// group, spatial.
void conv_transpose_compute(Compute& c, const ConvNd& conv, const std::string& kernel_letters) {
  const bool grouped = kernel_letters[0] == 'G';
  const int first = grouped ? 1 : 0;
  const Layout canonical = *Layout::parse(data_letters(conv.count)),
               kernel_canonical = *Layout::parse(kernel_letters);
  const Tensor &data = c.in(0), &weight = c.in(1);
  const std::vector<Dim> in = convert_shape(data.dims(), conv.data_layout, canonical);
  const std::vector<int64_t> kernel = convert_shape(weight.shape(), conv.kernel_layout, kernel_canonical);
  const int64_t in_channels = number_of(in[1], "a number for the input channels"),
                channels = number_of(convert_shape(c.out().shape(), conv.out_layout, canonical)[1],
                                     "a number for the output channels");
  const Halide::Type type = halide_type(c.out().dtype());
  check_groups(conv.groups, in_channels, channels);
  check_filled_blocks(channels, kernel[first + 1] * conv.groups);
  const int out_per_group = as_int(channels / conv.groups), in_per_group = as_int(in_channels / conv.groups);
  // Without dilation only every stride-th tap of a position meets an element: only those are visited.
  std::vector<int64_t> extents{in_per_group};
  for (int k = 0; k < conv.count; ++k) {
    const int64_t taps = kernel[first + 2 + k], stride = conv.strides[k];
    extents.push_back(conv.dilation[k] == 1 ? (taps + stride - 1) / stride : taps);
  }
  const Domain r(extents);
  const Axes i(conv.out_layout.rank());
  const Index to = convert_index<Halide::Expr>(i.exprs(), conv.out_layout, canonical);
  const Halide::Expr group = conv.groups == 1 ? Halide::Expr(0) : to[1] / out_per_group;
  const Halide::Expr channel = group * in_per_group + r[0],
                     filter = conv.groups == 1 ? to[1] : to[1] % out_per_group;
  Index from{to[0], channel}, tap = grouped ? Index{group, r[0], filter} : Index{channel, filter};
  Halide::Expr inside = Halide::Internal::const_true();
  for (int k = 0; k < conv.count; ++k) {
    const int stride = as_int(conv.strides[k]), taps = as_int(kernel[first + 2 + k]);
    const Halide::Expr spread = to[2 + k] + as_int(conv.before[k]);
    Halide::Expr at = r[1 + k], position;
    if (conv.dilation[k] == 1) {
      position = spread / stride - at;
      at = spread % stride + at * stride;
      if (taps % stride != 0) inside = inside && at < taps;
    } else {
      const Halide::Expr reach = spread - at * as_int(conv.dilation[k]);
      position = reach / stride;
      inside = inside && reach % stride == 0;
    }
    inside = inside && position >= 0 && position < as_expr(in[2 + k]);
    from.push_back(inside_axis(position, in[2 + k]));
    c.needs_elements(in[2 + k]);
    tap.push_back(inside_axis(at, taps));
  }
  const Halide::Expr value =
      select(inside, cast(type, at_plain(data, conv.data_layout, from)), cast(type, 0));
  Halide::Func sum = c.stage("conv_transpose");
  sum(i.reversed()) = cast(type, 0);
  sum(i.reversed()) +=
      value * cast(type, weight(convert_index<Halide::Expr>(tap, kernel_canonical, conv.kernel_layout)));
  c.result(copy_stage(c, sum));
}

template <class A, int kCount>
void transpose_compute(Compute& c, const A& attrs) {
  const ConvNd conv = conv_nd(attrs, kCount);
  const std::string letters = (is_grouped(attrs.kernel_layout, kCount) ? "G" : "") + kernel_letters(kCount);
  if (!conv_transpose_by_phases(c, conv, letters)) conv_transpose_compute(c, conv, letters);
}

}  // namespace

RelationStatus conv2d_transpose_relation(RelationContext& ctx, const Conv2DTransposeAttrs& attrs) {
  return transpose_relation<Conv2DTransposeAttrs, 2>(ctx, attrs);
}

const OpDef& op_nn_conv1d_transpose() {
  static const OpDef def = OpSpec<Conv1DTransposeAttrs>{
      .name = "nn.conv1d_transpose",
      .doc =
          "The transpose of a convolution over one axis: every element of the data adds its multiple of the "
          "kernel to the result.",
      .inputs = {{"data", "3-D tensor in data_layout"},
                 {"weight", "(input channels, output channels / groups, width)"}},
      .fuse = Fuse::kOutFusable,
      .relation = transpose_relation<Conv1DTransposeAttrs, 1>,
      .compute = transpose_compute<Conv1DTransposeAttrs, 1>,
      .cost = conv_transpose_cost,
      .python =
          "nn.conv1d_transpose(data, weight, strides=(1,), padding=(0,), dilation=(1,), groups=1, "
          "channels=None, kernel_size=None, data_layout='NCW', kernel_layout='OIW', out_layout='', "
          "output_padding=(0,), out_dtype='')",
      .rules = op_rules(conv_brief(), MixedPrecision::kAlways, AnchorRule{"conv_transpose"},
                        LayerKind::kConvolutionTransposed),
      .test_shapes = {"(1, 3, 6)f32, (3, 4, 3)f32, channels=4, kernel_size=[3]"},
  };
  return def;
}

const OpDef& op_nn_conv2d_transpose() {
  static const OpDef def = OpSpec<Conv2DTransposeAttrs>{
      .name = "nn.conv2d_transpose",
      .doc = "The transpose of a convolution over height and width.",
      .inputs = {{"data", "4-D tensor in data_layout"},
                 {"weight", "(input channels, output channels / groups, height, width) in layout IOHW"}},
      .fuse = Fuse::kOutFusable,
      .relation = conv2d_transpose_relation,
      .compute = transpose_compute<Conv2DTransposeAttrs, 2>,
      .cost = conv_transpose_cost,
      .python =
          "nn.conv2d_transpose(data, weight, strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, "
          "channels=None, kernel_size=None, data_layout='NCHW', kernel_layout='IOHW', out_layout='', "
          "output_padding=(0, 0), out_dtype='')",
      .rules = op_rules(conv_brief(), MixedPrecision::kAlways,
                        FakeQuantizationRule{fake_quantized_conv2d_transpose}, conv_layout_flow(),
                        conv_macs(), ConvertedLayout::kConvolution, AnchorRule{"conv_transpose"},
                        LayerKind::kConvolutionTransposed),
      .test_shapes = {"(1, 3, 5, 5)f32, (3, 4, 3, 3)f32, channels=4, kernel_size=[3, 3], strides=[2, 2], "
                      "output_padding=[1, 1], padding=[1, 1, 1, 1], kernel_layout=IOHW"},
  };
  return def;
}

const OpDef& op_nn_conv3d_transpose() {
  static const OpDef def = OpSpec<Conv3DTransposeAttrs>{
      .name = "nn.conv3d_transpose",
      .doc = "The transpose of a convolution over depth, height and width.",
      .inputs = {{"data", "5-D tensor in data_layout"},
                 {"weight", "(input channels, output channels / groups, depth, height, width)"}},
      .fuse = Fuse::kOutFusable,
      .relation = transpose_relation<Conv3DTransposeAttrs, 3>,
      .compute = transpose_compute<Conv3DTransposeAttrs, 3>,
      .cost = conv_transpose_cost,
      .python =
          "nn.conv3d_transpose(data, weight, strides=(1, 1, 1), padding=(0, 0, 0), dilation=(1, 1, 1), "
          "groups=1, channels=None, kernel_size=None, data_layout='NCDHW', kernel_layout='OIDHW', "
          "out_layout='', output_padding=(0, 0, 0), out_dtype='')",
      .rules = op_rules(conv_brief(), MixedPrecision::kAlways, conv_layout_flow(),
                        AnchorRule{"conv_transpose"}, LayerKind::kConvolutionTransposed),
      .test_shapes = {"(1, 2, 3, 4, 4)f32, (2, 3, 2, 2, 2)f32, channels=3, kernel_size=[2, 2, 2], "
                      "strides=[2, 2, 2], padding=[1, 1, 1, 1, 1, 1]"},
  };
  return def;
}

}  // namespace baton
