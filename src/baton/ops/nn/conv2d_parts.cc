// What belongs to 2-D convolutions: the gradient by the weight, weights for other algorithms, and correlation.
#include "baton/ops/nn/conv2d_relation.h"
#include "baton/ops/nn/conv_attrs.h"
#include "baton/ops/nn/conv_nd_compute.h"
#include "baton/ops/nn/spatial.h"
#include "baton/ops/op_spec.h"

namespace baton {

struct ConvGemmWeightTransformAttrs {
  int64_t tile_rows = 0;
  int64_t tile_cols = 0;
};

struct Conv2DWinogradNNPACKWeightTransformAttrs {
  int64_t convolution_algorithm = 0;
  DType out_dtype = {};
};

struct CorrelationAttrs {
  int64_t kernel_size = 1;
  int64_t max_displacement = 1;
  int64_t stride1 = 1;
  int64_t stride2 = 1;
  std::vector<int64_t> padding{0, 0};
  bool is_multiply = true;
  std::string layout = "NCHW";
};

template <>
const AttrSchema& attr_schema<ConvGemmWeightTransformAttrs>() {
  using A = ConvGemmWeightTransformAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.ConvGemmWeightTransformAttrs",
      {{"tile_rows", &A::tile_rows, "output channels of a tile", kNoDefault}, {"tile_cols", &A::tile_cols, "taps of a tile", kNoDefault}});
  return schema;
}
template <>
const AttrSchema& attr_schema<Conv2DWinogradNNPACKWeightTransformAttrs>() {
  using A = Conv2DWinogradNNPACKWeightTransformAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.Conv2DWinogradNNPACKWeightTransformAttrs",
      {{"convolution_algorithm", &A::convolution_algorithm, "number of NNPACK's algorithm", kNoDefault},
       {"out_dtype", &A::out_dtype, "element type of the result; void: as the weight"}});
  return schema;
}
template <>
const AttrSchema& attr_schema<CorrelationAttrs>() {
  using A = CorrelationAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.CorrelationAttrs",
      {{"kernel_size", &A::kernel_size, "edge of the patches that are compared; odd"},
       {"max_displacement", &A::max_displacement, "how far apart patches are compared"},
       {"stride1", &A::stride1, "step of the patches of data1"},
       {"stride2", &A::stride2, "step of the displacements"},
       {"padding", &A::padding, "zeros around both: p, or [h, w], or [top, left, bottom, right]"},
       {"is_multiply", &A::is_multiply, "multiply patches; else the absolute difference"},
       {"layout", &A::layout, "layout of the data, NCHW"}});
  return schema;
}

namespace {

// Here data_layout is the gradient's layout, kernel_layout the data's, and out_layout that of the weight, the result.
RelationStatus backward_weight_relation(RelationContext& ctx, const Conv2DAttrs& attrs) {
  const TensorTypeNode *grad = ctx.tensor(0), *data = ctx.tensor(1);
  if (!grad || !data) return kDefer;
  const auto grad_layout = checked_layout(ctx, "data_layout", attrs.data_layout, "NCHW");
  if (!grad_layout) return kFailed;
  const auto data_layout = checked_layout(ctx, "kernel_layout", attrs.kernel_layout, "NCHW");
  if (!data_layout) return kFailed;
  const auto out_layout = checked_layout(ctx, "out_layout", attrs.out_layout.empty() ? "OIHW" : attrs.out_layout, "OIHW");
  if (!out_layout || !check_rank(ctx, *grad, grad_layout->rank(), 0) || !check_rank(ctx, *data, data_layout->rank(), 1)) return kFailed;
  if (!check_least(ctx, "groups", {&attrs.groups, 1}, 1)) return kFailed;
  if (!attrs.channels) return fail_attr(ctx, "channels", "None", "it is needed, as there is no weight to read it from");
  if (!attrs.kernel_size) return fail_attr(ctx, "kernel_size", "None", "it is needed, as there is no weight to read it from");
  if (!check_least(ctx, "channels", {&*attrs.channels, 1}, 1) || !check_lists(ctx, {{"kernel_size", &*attrs.kernel_size}}, 2)) return kFailed;
  const Layout nchw = *Layout::parse("NCHW"), oihw = *Layout::parse("OIHW");
  const Dim in_channels = convert_shape(data->shape(), *data_layout, nchw)[1];
  const Dim out_channels = convert_shape(grad->shape(), *grad_layout, nchw)[1];
  if (!may_equal(out_channels, *attrs.channels))
    return fail_attr(ctx, "channels", std::to_string(*attrs.channels), "the gradient has " + std::to_string(out_channels.value()) + " channels");
  const std::vector<Dim> weight{*attrs.channels, divided(in_channels, attrs.groups), (*attrs.kernel_size)[0], (*attrs.kernel_size)[1]};
  return ctx.assign_result(
      tensor_type(convert_shape(weight, oihw, *out_layout), attrs.out_dtype.is_void() ? grad->dtype() : attrs.out_dtype));
}

RelationStatus gemm_weight_relation(RelationContext& ctx, const ConvGemmWeightTransformAttrs& attrs) {
  const TensorTypeNode* weight = ctx.tensor(0);
  if (!weight) return kDefer;
  if (!check_rank(ctx, *weight, 4, 0)) return kFailed;
  if (!check_least(ctx, "tile_rows", {&attrs.tile_rows, 1}, 1) || !check_least(ctx, "tile_cols", {&attrs.tile_cols, 1}, 1)) return kFailed;
  const std::vector<Dim>& in = weight->shape();
  const auto taps = checked_product(ctx, {in[0], in[1], in[2]});
  if (!taps) return kFailed;
  const auto tiles = [](Dim dim, int64_t tile) { return dim.is_any() ? dim : Dim(dim.value() / tile + (dim.value() % tile != 0)); };
  const std::vector<Dim> shape{tiles(in[3], attrs.tile_rows), tiles(*taps, attrs.tile_cols), attrs.tile_rows, attrs.tile_cols};
  return ctx.assign_result(tensor_type(shape, weight->dtype()));
}

RelationStatus nnpack_weight_relation(RelationContext& ctx, const Conv2DWinogradNNPACKWeightTransformAttrs& attrs) {
  const TensorTypeNode* weight = ctx.tensor(0);
  if (!weight) return kDefer;
  if (!check_rank(ctx, *weight, 4, 0)) return kFailed;
  const std::vector<Dim> shape{weight->shape()[0], weight->shape()[1], 8, 8};
  return ctx.assign_result(tensor_type(shape, attrs.out_dtype.is_void() ? weight->dtype() : attrs.out_dtype));
}

RelationStatus correlation_relation(RelationContext& ctx, const CorrelationAttrs& attrs) {
  const TensorTypeNode *first = ctx.tensor(0), *second = ctx.tensor(1);
  if (!first || !second) return kDefer;
  if (attrs.layout != "NCHW") return fail_attr(ctx, "layout", "\"" + attrs.layout + "\"", "it must be \"NCHW\"");
  if (!check_rank(ctx, *first, 4, 0) || !check_rank(ctx, *second, 4, 1)) return kFailed;
  for (int axis = 0; axis < 4; ++axis)
    if (!may_equal(first->shape()[axis], second->shape()[axis]))
      return fail_arg(ctx, 1, "both need the same shape, got " + shape_text(first->shape()) + " and " + shape_text(second->shape()));
  if (attrs.kernel_size < 1 || attrs.kernel_size % 2 == 0)
    return fail_attr(ctx, "kernel_size", std::to_string(attrs.kernel_size), "it must be positive and odd");
  if (!check_least(ctx, "max_displacement", {&attrs.max_displacement, 1}, 0) || !check_least(ctx, "stride1", {&attrs.stride1, 1}, 1) ||
      !check_least(ctx, "stride2", {&attrs.stride2, 1}, 1))
    return kFailed;
  const auto padding = padding_sums(ctx, attrs.padding, 2);
  if (!padding) return kFailed;
  const auto across = checked_extent(ctx, static_cast<WideInt>(attrs.max_displacement / attrs.stride2) * 2 + 1);
  if (!across) return kFailed;
  const auto channels = checked_product(ctx, {*across, *across});
  if (!channels) return kFailed;
  std::vector<Dim> shape{first->shape()[0], *channels};
  for (int i = 0; i < 2; ++i) {
    const Dim dim = first->shape()[2 + i];
    if (dim.is_any()) {
      shape.push_back(dim);
      continue;
    }
    const WideInt border = static_cast<WideInt>(attrs.max_displacement) + attrs.kernel_size / 2;
    const WideInt free = static_cast<WideInt>(dim.value()) + (*padding)[i] - 2 * border;
    const auto extent = checked_extent(ctx, free <= 0 ? -1 : (free + attrs.stride1 - 1) / attrs.stride1);
    if (!extent) return kFailed;
    shape.push_back(*extent);
  }
  return ctx.assign_result(tensor_type(std::move(shape), first->dtype()));
}

}  // namespace

const OpDef& op_nn_conv2d_backward_weight() {
  static const OpDef def = OpSpec<Conv2DAttrs>{
      .name = "nn.conv2d_backward_weight",
      .doc = "The gradient of nn.conv2d by its weight. data_layout is the gradient's layout, kernel_layout the data's, out_layout the weight's.",
      .inputs = {{"grad", "gradient by the convolution's result"}, {"data", "the convolution's data"}},
      .fuse = Fuse::kOutFusable,
      .relation = backward_weight_relation,
      .compute = conv2d_backward_weight_compute,
  };
  return def;
}

const OpDef& op_nn_contrib_conv2d_gemm_weight_transform() {
  static const OpDef def = OpSpec<ConvGemmWeightTransformAttrs>{
      .name = "nn.contrib_conv2d_gemm_weight_transform",
      .doc = "A weight in HWIO as a product of matrices wants it: transposed and cut into tiles.",
      .inputs = {{"weights", "tensor (height, width, I, O)"}},
      .fuse = Fuse::kOutFusable,
      .relation = gemm_weight_relation,
  };
  return def;
}

const OpDef& op_nn_contrib_conv2d_gemm_without_weight_transform() {
  static const OpDef def = OpSpec<Conv2DAttrs>{
      .name = "nn.contrib_conv2d_gemm_without_weight_transform",
      .doc = "nn.conv2d as a product of matrices; the weight was transformed before.",
      .inputs = {{"data", "4-D tensor in data_layout"}, {"weight", "result of nn.contrib_conv2d_gemm_weight_transform"}},
      .fuse = Fuse::kOutFusable,
      .relation = packed_conv2d_relation,
  };
  return def;
}

const OpDef& op_nn_contrib_conv2d_winograd_nnpack_weight_transform() {
  static const OpDef def = OpSpec<Conv2DWinogradNNPACKWeightTransformAttrs>{
      .name = "nn.contrib_conv2d_winograd_nnpack_weight_transform",
      .doc = "The weight of a 3x3 convolution as NNPACK's Winograd algorithm wants it: (O, I, 3, 3) -> (O, I, 8, 8).",
      .inputs = {{"weight", "tensor (O, I, height, width)"}},
      .relation = nnpack_weight_relation,
  };
  return def;
}

const OpDef& op_nn_correlation() {
  static const OpDef def = OpSpec<CorrelationAttrs>{
      .name = "nn.correlation",
      .doc = "Compares each patch of data1 with the patches of data2 around it, one channel for each displacement.",
      .inputs = {{"data1", "4-D tensor"}, {"data2", "4-D tensor"}},
      .fuse = Fuse::kOutFusable,
      .relation = correlation_relation,
  };
  return def;
}

}  // namespace baton
