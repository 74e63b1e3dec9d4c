// The 2-D convolution as a product of matrices, and weights for it and for NNPACK's algorithm.
#include "baton/ir/rules/brief.h"
#include "baton/ops/domain.h"
#include "baton/ops/nn/conv/conv2d.h"
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

namespace {

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
    return dim.is_any() ? floor_div(dim + (tile - 1), tile)
                        : Dim(dim.value() / tile + (dim.value() % tile != 0));
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
  const auto tiles = [](int64_t count, int tile) { return tile == 0 ? 0 : (count + tile - 1) / tile; };
  if (weight.extent(0) != tiles(*attrs.channels, tile_rows) ||
      weight.extent(1) != tiles(in[1] * height * width, tile_columns))
    throw NotSupported("a convolution as a product of matrices: " + std::to_string(*attrs.channels) +
                       " channels of data " + describe(data.shape(), data.dtype()) + " in " +
                       attrs.data_layout + " need as many tiles of " + std::to_string(tile_rows) + " x " +
                       std::to_string(tile_columns) + "; the weight is " +
                       describe(weight.shape(), weight.dtype()));
  check_filled_blocks(convert_shape(c.out().extents(), out_layout, nchw)[1], *attrs.channels);
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

}  // namespace

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
      .rules = op_rules(conv_brief(), conv_layout_flow(), conv_macs()),
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

}  // namespace baton
