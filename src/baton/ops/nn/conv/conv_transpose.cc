// Transposed convolutions over one, two and three spatial axes, and the deformable convolution.
#include "baton/ops/nn/conv/conv_nd_compute.h"
#include "baton/ops/nn/conv/conv_transpose_relation.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/rules/fake_quantization_rules.h"
#include "baton/ops/shared/spatial.h"

namespace baton {

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
  if (!out_layout || !check_rank(ctx, *data, data_layout->rank(), 0)) return kFailed;
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
  if (weight && !check_rank(ctx, *weight, layout->rank(), 1)) return kFailed;
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
                      "the data's " + std::to_string(in[1].value()) + " channels in " +
                          std::to_string(attrs.groups) + " groups do not fit the weight's type " +
                          type_text(ctx.input(1)));
  }

  std::vector<Dim> shape{in[0], channels};
  for (int i = 0; i < kCount; ++i) {
    if (in[2 + i].is_any() || kernel[i].is_any()) {
      shape.push_back(Dim::any());
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

template <class A, int kCount>
void transpose_compute(Compute& c, const A& attrs) {
  conv_transpose_compute(c, conv_nd(attrs, kCount),
                         (is_grouped(attrs.kernel_layout, kCount) ? "G" : "") + kernel_letters(kCount));
}

RelationStatus deformable_relation(RelationContext& ctx, const DeformableConv2DAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  const auto data_layout = checked_layout(ctx, "data_layout", attrs.data_layout, "NCHW");
  if (!data_layout) return kFailed;
  const auto layout = checked_layout(ctx, "kernel_layout", attrs.kernel_layout, "OIHW");
  if (!layout) return kFailed;
  const auto out_layout =
      attrs.out_layout.empty() ? data_layout : checked_layout(ctx, "out_layout", attrs.out_layout, "NCHW");
  if (!out_layout || !check_rank(ctx, *data, data_layout->rank(), 0)) return kFailed;
  if (!check_lists(ctx, {{"strides", &attrs.strides}, {"dilation", &attrs.dilation}}, 2)) return kFailed;
  if (!check_least(ctx, "groups", {&attrs.groups, 1}, 1)) return kFailed;
  if (!check_least(ctx, "deformable_groups", {&attrs.deformable_groups, 1}, 1)) return kFailed;
  if (attrs.channels && !check_least(ctx, "channels", {&*attrs.channels, 1}, 1)) return kFailed;
  if (attrs.kernel_size && !check_lists(ctx, {{"kernel_size", &*attrs.kernel_size}}, 2)) return kFailed;
  const auto padding = padding_sums(ctx, attrs.padding, 2);
  if (!padding) return kFailed;

  const Layout canonical = *Layout::parse("NCHW"), kernel_canonical = *Layout::parse("OIHW");
  const std::vector<Dim> in = convert_shape(data->shape(), *data_layout, canonical);
  const TensorTypeNode* weight = ctx.tensor(2);
  if (weight && !check_rank(ctx, *weight, layout->rank(), 2)) return kFailed;
  if (!weight && !(attrs.channels && attrs.kernel_size)) return kDefer;
  std::vector<Dim> known =
      weight ? convert_shape(weight->shape(), *layout, kernel_canonical) : std::vector<Dim>(4, Dim::any());
  if (attrs.channels) known[0] = *attrs.channels;
  known[1] = divided(in[1], attrs.groups);
  if (attrs.kernel_size) std::copy(attrs.kernel_size->begin(), attrs.kernel_size->end(), known.begin() + 2);
  const DType dtype = weight ? weight->dtype() : data->dtype();
  if (ctx.assign(2, tensor_type(convert_shape(known, kernel_canonical, *layout), dtype)) == kFailed)
    return kFailed;

  std::vector<Dim> shape{in[0], known[0]};
  for (int i = 0; i < 2; ++i) {
    const auto extent =
        window_positions(ctx, {in[2 + i], (*padding)[i], known[2 + i], attrs.dilation[i], attrs.strides[i]});
    if (!extent) return kFailed;
    shape.push_back(*extent);
  }
  const auto offsets = checked_product(ctx, {2, known[2], known[3], attrs.deformable_groups});
  if (!offsets) return kFailed;
  const std::vector<Dim> offset{in[0], *offsets, shape[2], shape[3]};
  if (ctx.assign(1, tensor_type(convert_shape(offset, canonical, *data_layout), data->dtype())) == kFailed)
    return kFailed;
  const DType out_dtype = attrs.out_dtype.is_void() ? data->dtype() : attrs.out_dtype;
  return ctx.assign_result(tensor_type(convert_shape(shape, canonical, *out_layout), out_dtype));
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
      .rules = op_rules(MixedPrecision::kAlways),
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
      .rules = op_rules(MixedPrecision::kAlways, FakeQuantizationRule{fake_quantized_conv2d_transpose},
                        conv_layout_flow(), conv_macs(), ConvertedLayout::kConvolution),
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
      .rules = op_rules(MixedPrecision::kAlways, conv_layout_flow()),
      .test_shapes = {"(1, 2, 3, 4, 4)f32, (2, 3, 2, 2, 2)f32, channels=3, kernel_size=[2, 2, 2], "
                      "strides=[2, 2, 2], padding=[1, 1, 1, 1, 1, 1]"},
  };
  return def;
}

const OpDef& op_nn_deformable_conv2d() {
  static const OpDef def = OpSpec<DeformableConv2DAttrs>{
      .name = "nn.deformable_conv2d",
      .doc =
          "Convolution over height and width whose taps are moved by offsets, one pair for each tap and "
          "result position.",
      .inputs =
          {{"data", "4-D tensor in data_layout"},
           {"offset",
            "(batch, 2 * kernel height * kernel width * deformable_groups, result height, result width)"},
           {"weight", "4-D tensor in kernel_layout"}},
      .fuse = Fuse::kOutFusable,
      .relation = deformable_relation,
      .compute = deformable_conv2d_compute,
      .cost = conv_cost,
      .rules = op_rules(conv_layout_flow(), ConvertedLayout::kConvolution),
      .test_shapes = {"(1, 2, 5, 5)f32, (1, 18, 5, 5)f32[-0.5, 0.5], (4, 2, 3, 3)f32, padding=[1, 1, 1, 1], "
                      "channels=4, kernel_size=[3, 3]"},
  };
  return def;
}

}  // namespace baton
