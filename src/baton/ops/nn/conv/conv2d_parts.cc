// What belongs to 2-D convolutions: the gradient by the weight, weights for other algorithms, and
// correlation.
#include "baton/ops/domain.h"
#include "baton/ops/nn/conv/conv2d_relation.h"
#include "baton/ops/nn/conv/conv_nd_compute.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/shared/conv_attrs.h"
#include "baton/ops/shared/spatial.h"

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
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.ConvGemmWeightTransformAttrs",
                     {{"tile_rows", &A::tile_rows, "output channels of a tile", kNoDefault},
                      {"tile_cols", &A::tile_cols, "taps of a tile", kNoDefault}});
  return schema;
}
template <>
const AttrSchema& attr_schema<Conv2DWinogradNNPACKWeightTransformAttrs>() {
  using A = Conv2DWinogradNNPACKWeightTransformAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.Conv2DWinogradNNPACKWeightTransformAttrs",
      {{"convolution_algorithm", &A::convolution_algorithm, "number of NNPACK's algorithm", kNoDefault},
       {"out_dtype", &A::out_dtype, "element type of the result; void: as the weight"}});
  return schema;
}
template <>
const AttrSchema& attr_schema<CorrelationAttrs>() {
  using A = CorrelationAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.CorrelationAttrs",
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
  if (!out_layout || !check_rank(ctx, *grad, grad_layout->rank(), 0) ||
      !check_rank(ctx, *data, data_layout->rank(), 1))
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
  const Dim in_channels = convert_shape(data->shape(), *data_layout, nchw)[1];
  const Dim out_channels = convert_shape(grad->shape(), *grad_layout, nchw)[1];
  if (!may_equal(out_channels, *attrs.channels))
    return fail_attr(ctx, "channels", std::to_string(*attrs.channels),
                     "the gradient has " + std::to_string(out_channels.value()) + " channels");
  const std::vector<Dim> weight{*attrs.channels, divided(in_channels, attrs.groups), (*attrs.kernel_size)[0],
                                (*attrs.kernel_size)[1]};
  return ctx.assign_result(tensor_type(convert_shape(weight, oihw, *out_layout),
                                       attrs.out_dtype.is_void() ? grad->dtype() : attrs.out_dtype));
}

RelationStatus gemm_weight_relation(RelationContext& ctx, const ConvGemmWeightTransformAttrs& attrs) {
  const TensorTypeNode* weight = ctx.tensor(0);
  if (!weight) return kDefer;
  if (!check_rank(ctx, *weight, 4, 0)) return kFailed;
  if (!check_least(ctx, "tile_rows", {&attrs.tile_rows, 1}, 1) ||
      !check_least(ctx, "tile_cols", {&attrs.tile_cols, 1}, 1))
    return kFailed;
  const std::vector<Dim>& in = weight->shape();
  const auto taps = checked_product(ctx, {in[0], in[1], in[2]});
  if (!taps) return kFailed;
  const auto tiles = [](Dim dim, int64_t tile) {
    return dim.is_any() ? dim : Dim(dim.value() / tile + (dim.value() % tile != 0));
  };
  const std::vector<Dim> shape{tiles(in[3], attrs.tile_rows), tiles(*taps, attrs.tile_cols), attrs.tile_rows,
                               attrs.tile_cols};
  return ctx.assign_result(tensor_type(shape, weight->dtype()));
}

RelationStatus nnpack_weight_relation(RelationContext& ctx,
                                      const Conv2DWinogradNNPACKWeightTransformAttrs& attrs) {
  const TensorTypeNode* weight = ctx.tensor(0);
  if (!weight) return kDefer;
  if (!check_rank(ctx, *weight, 4, 0)) return kFailed;
  const std::vector<Dim> shape{weight->shape()[0], weight->shape()[1], 8, 8};
  return ctx.assign_result(tensor_type(shape, attrs.out_dtype.is_void() ? weight->dtype() : attrs.out_dtype));
}

RelationStatus correlation_relation(RelationContext& ctx, const CorrelationAttrs& attrs) {
  const TensorTypeNode *first = ctx.tensor(0), *second = ctx.tensor(1);
  if (!first || !second) return kDefer;
  if (attrs.layout != "NCHW")
    return fail_attr(ctx, "layout", "\"" + attrs.layout + "\"", "it must be \"NCHW\"");
  if (!check_rank(ctx, *first, 4, 0) || !check_rank(ctx, *second, 4, 1)) return kFailed;
  for (int axis = 0; axis < 4; ++axis)
    if (!may_equal(first->shape()[axis], second->shape()[axis]))
      return fail_arg(ctx, 1,
                      "both need the same shape, got " + shape_text(first->shape()) + " and " +
                          shape_text(second->shape()));
  if (attrs.kernel_size < 1 || attrs.kernel_size % 2 == 0)
    return fail_attr(ctx, "kernel_size", std::to_string(attrs.kernel_size), "it must be positive and odd");
  if (!check_least(ctx, "max_displacement", {&attrs.max_displacement, 1}, 0) ||
      !check_least(ctx, "stride1", {&attrs.stride1, 1}, 1) ||
      !check_least(ctx, "stride2", {&attrs.stride2, 1}, 1))
    return kFailed;
  const auto padding = padding_sums(ctx, attrs.padding, 2);
  if (!padding) return kFailed;
  const auto across =
      checked_extent(ctx, static_cast<WideInt>(attrs.max_displacement / attrs.stride2) * 2 + 1);
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

// Row n and column k of the matrix (output channel, tap) stand in tile (n / tile_rows, k / tile_cols).
void gemm_weight_compute(Compute& c, const ConvGemmWeightTransformAttrs& attrs) {
  const Tensor& weight = c.in(0);
  const Axes i(4);
  const int in = as_int(weight.extent(2)), width = as_int(weight.extent(1)),
            taps = as_int(weight.extent(0) * weight.extent(1) * weight.extent(2));
  const Halide::Expr n = i[0] * as_int(attrs.tile_rows) + i[2], k = i[1] * as_int(attrs.tile_cols) + i[3];
  const Halide::Expr at = inside_axis(k, taps);
  const Halide::Expr value =
      weight(Index{at / in / width, at / in % width, at % in, inside_axis(n, weight.extent(3))});
  Halide::Func tiles = c.stage("gemm_weight");
  tiles(i.reversed()) = select(n < as_int(weight.extent(3)) && k < taps, value, cast_to(c.out().dtype(), 0));
  c.result(tiles);
}

void gemm_conv2d_compute(Compute& c, const Conv2DAttrs& attrs) {
  const Tensor &data = c.in(0), &weight = c.in(1);
  const Layout nchw = *Layout::parse("NCHW"), layout = *Layout::parse(attrs.data_layout);
  const Layout out_layout = attrs.out_layout.empty() ? layout : *Layout::parse(attrs.out_layout);
  const std::vector<int64_t> in = convert_shape(data.shape(), layout, nchw);
  if (weight.rank() != 4 || attrs.groups != 1 || !attrs.kernel_size)
    throw NotSupported("a convolution as a product of matrices needs one group and a weight in tiles");
  const int height = as_int((*attrs.kernel_size)[0]), width = as_int((*attrs.kernel_size)[1]);
  const int tile_rows = as_int(weight.extent(2)), tile_columns = as_int(weight.extent(3));
  const Padding2D pad = *padding_2d(attrs.padding);
  const Halide::Type type = halide_type(c.out().dtype());
  const Axes i(out_layout.rank());
  const Index to = convert_index<Halide::Expr>(i.exprs(), out_layout, nchw);
  const Domain r({height, width, in[1]});
  const Halide::Expr y =
      to[2] * as_int(attrs.strides[0]) + r[0] * as_int(attrs.dilation[0]) - as_int(pad.top);
  const Halide::Expr x =
      to[3] * as_int(attrs.strides[1]) + r[1] * as_int(attrs.dilation[1]) - as_int(pad.left);
  const Halide::Expr inside = y >= 0 && y < as_int(in[2]) && x >= 0 && x < as_int(in[3]),
                     k = (r[0] * width + r[1]) * as_int(in[1]) + r[2];
  const Halide::Expr value = data(
      convert_index<Halide::Expr>({to[0], r[2], inside_axis(y, in[2]), inside_axis(x, in[3])}, nchw, layout));
  Halide::Func sum = c.stage("gemm_conv2d");
  sum(i.reversed()) = cast(type, 0);
  sum(i.reversed()) +=
      select(inside, cast(type, value), cast(type, 0)) *
      cast(type, weight(Index{to[1] / tile_rows, k / tile_columns, to[1] % tile_rows, k % tile_columns}));
  c.result(copy_stage(c, sum));
}

// Channel q of the result compares with data2 moved by (q / across - radius, q % across - radius) steps.
void correlation_compute(Compute& c, const CorrelationAttrs& attrs) {
  const Tensor &first = c.in(0), &second = c.in(1);
  const int kernel = as_int(attrs.kernel_size), channels = as_int(first.extent(1)),
            radius = as_int(attrs.max_displacement / attrs.stride2);
  const int across = 2 * radius + 1, step = as_int(attrs.stride2);
  const Padding2D pad = *padding_2d(attrs.padding);
  const Halide::Type type = sum_type(c.out().dtype());
  const Axes i(4);
  const Domain r({channels, kernel, kernel});
  auto pixel = [&](const Tensor& from, const Halide::Expr& padded_y, const Halide::Expr& padded_x) {
    const Halide::Expr y = padded_y - as_int(pad.top), x = padded_x - as_int(pad.left);
    const Halide::Expr inside = y >= 0 && y < as_int(from.extent(2)) && x >= 0 && x < as_int(from.extent(3));
    return select(
        inside,
        cast(type, from(Index{i[0], r[0], inside_axis(y, from.extent(2)), inside_axis(x, from.extent(3))})),
        cast(type, 0));
  };
  const Halide::Expr y = i[2] * as_int(attrs.stride1) + as_int(attrs.max_displacement) + r[1];
  const Halide::Expr x = i[3] * as_int(attrs.stride1) + as_int(attrs.max_displacement) + r[2];
  const Halide::Expr a = pixel(first, y, x), b = pixel(second, y + (i[1] / across - radius) * step,
                                                       x + (i[1] % across - radius) * step);
  Halide::Func sum = c.stage("correlation"), out = c.stage("out");
  sum(i.reversed()) = cast(type, 0);
  sum(i.reversed()) += attrs.is_multiply ? a * b : cast(type, abs(a - b));
  out(i.reversed()) = cast_to(c.out().dtype(), sum(i.reversed()) / (kernel * kernel * channels));
  c.result(out);
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
      .test_shapes = {"(1, 4, 6, 6)f32, (1, 3, 8, 8)f32, channels=4, kernel_size=[3, 3]"},
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
      .compute = gemm_weight_compute,
      .test_shapes = {"(3, 3, 4, 8)f32, tile_rows=4, tile_cols=4",
                      "(1, 1, 5, 7)f32, tile_rows=4, tile_cols=16"},
  };
  return def;
}

const OpDef& op_nn_contrib_conv2d_gemm_without_weight_transform() {
  static const OpDef def = OpSpec<Conv2DAttrs>{
      .name = "nn.contrib_conv2d_gemm_without_weight_transform",
      .doc = "nn.conv2d as a product of matrices; the weight was transformed before.",
      .inputs = {{"data", "4-D tensor in data_layout"},
                 {"weight", "result of nn.contrib_conv2d_gemm_weight_transform"}},
      .fuse = Fuse::kOutFusable,
      .relation = packed_conv2d_relation,
      .compute = gemm_conv2d_compute,
      .cost = conv_cost,
      .rules = op_rules(conv_layout_flow()),
      .test_shapes = {"(1, 8, 8, 4)f32, (2, 9, 4, 4)f32, channels=8, kernel_size=[3, 3], data_layout=NHWC, "
                      "kernel_layout=HWIO"},
  };
  return def;
}

const OpDef& op_nn_contrib_conv2d_winograd_nnpack_weight_transform() {
  static const OpDef def = OpSpec<Conv2DWinogradNNPACKWeightTransformAttrs>{
      .name = "nn.contrib_conv2d_winograd_nnpack_weight_transform",
      .doc =
          "The weight of a 3x3 convolution as NNPACK's Winograd algorithm wants it: (O, I, 3, 3) -> (O, I, "
          "8, 8).",
      .inputs = {{"weight", "tensor (O, I, height, width)"}},
      .relation = nnpack_weight_relation,
  };
  return def;
}

const OpDef& op_nn_correlation() {
  static const OpDef def = OpSpec<CorrelationAttrs>{
      .name = "nn.correlation",
      .doc =
          "Compares each patch of data1 with the patches of data2 around it, one channel for each "
          "displacement.",
      .inputs = {{"data1", "4-D tensor"}, {"data2", "4-D tensor"}},
      .fuse = Fuse::kOutFusable,
      .relation = correlation_relation,
      .compute = correlation_compute,
      .python =
          "nn.correlation(data1, data2, kernel_size, max_displacement, stride1, stride2, padding, "
          "is_multiply, layout)",
      .test_shapes = {"(1, 3, 5, 4)f32, (1, 3, 5, 4)f32, padding=[1, 1]"},
  };
  return def;
}

}  // namespace baton
