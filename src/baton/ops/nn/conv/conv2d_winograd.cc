// Winograd convolutions over two axes: a tile of m x m outputs from a x a inputs, as a * a matrix products.
// An axis along which the kernel has one tap may be left out: tiles are then 1 x m or m x 1.
#include "baton/ir/rules/brief.h"
#include "baton/ops/compute_util.h"
#include "baton/ops/nn/conv/conv2d.h"
#include "baton/ops/nn/conv/winograd.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"

namespace baton {

/// nn.contrib_conv2d_winograd_without_weight_transform: the weight is transformed already.
struct Conv2DWinogradAttrs : Conv2DAttrs {
  int64_t tile_size = 0;
};

template <>
const AttrSchema& attr_schema<Conv2DWinogradAttrs>() {
  static const AttrSchema schema = [] {
    auto fields = conv2d_fields<Conv2DWinogradAttrs>();
    fields.insert(fields.begin(), {"tile_size", &Conv2DWinogradAttrs::tile_size,
                                   "rows and columns of output per tile", kNoDefault});
    return make_schema<Conv2DWinogradAttrs>("relay.attrs.Conv2DWinogradAttrs", std::move(fields));
  }();
  return schema;
}

namespace {

/// One axis of a tile.
struct TileAxis {
  int outputs, inputs;  ///< m and a
  const WinogradMatrices& matrices;
};

/// `transformed`: the extent of the transformed weight. 1: the kernel has one tap here, and was not
/// transformed.
TileAxis tile_axis(int64_t tile_size, int64_t taps, int64_t transformed) {
  const int m = taps == 1 && transformed == 1 ? 1 : as_int(tile_size), r = as_int(taps);
  return {m, m + r - 1, winograd_matrices(m, r)};
}

// nn.contrib_conv2d_winograd_without_weight_transform: F(m x m, r x s), m = tile_size = 2 or 4, strides 1.
// Data NCHW{i}c with weight HWOI{i}i{o}o, or data NCHW with weight (a, b, O, I), a = m + r - 1. Stages: "pad"
// (only with padding), "in_xf1", "in_xf", "gemm_acc", "gemm", "out_xf1", "out_xf", "out". The difference to
// the direct sum of 3 x 3 taps is below 1e-6 (m = 2) or 1e-5 (m = 4) of the largest output.
void conv2d_winograd_compute(Compute& c, const Conv2DWinogradAttrs& attrs) {
  const Tensor &data = c.in(0), &weight = c.in(1);
  if (!attrs.kernel_size || attrs.kernel_size->size() != 2 || weight.rank() < 4)
    throw NotSupported(
        "Winograd convolution without kernel_size: the weight is transformed, and does not say it");
  const TileAxis vertical = tile_axis(attrs.tile_size, attrs.kernel_size->at(0), weight.extent(0)),
                 horizontal = tile_axis(attrs.tile_size, attrs.kernel_size->at(1), weight.extent(1));
  const int down_m = vertical.outputs, across_m = horizontal.outputs;
  const bool packed = data.rank() == 5;
  const std::vector<Dim>& out_shape = c.out().shape();
  const auto out_extent = [&](size_t axis) {
    return number_of(out_shape[axis], "a number for the channels");
  };
  const std::vector<int64_t> weight_shape =
      packed ? std::vector<int64_t>{vertical.inputs, horizontal.inputs, out_extent(1),
                                    data.extent(1),  data.extent(4),    out_extent(4)}
             : std::vector<int64_t>{vertical.inputs, horizontal.inputs, out_extent(1), data.extent(1)};
  const std::string& out_layout = attrs.out_layout.empty() ? attrs.data_layout : attrs.out_layout;
  const auto known = [&](const std::string& layout, int64_t block) {
    return layout == (packed ? "NCHW" + std::to_string(block) + "c" : "NCHW");
  };
  if (weight.shape() != weight_shape || !known(attrs.data_layout, packed ? data.extent(-1) : 1) ||
      !known(out_layout, packed ? out_extent(4) : 1) || attrs.groups != 1 ||
      attrs.strides != std::vector<int64_t>{1, 1} || attrs.dilation != std::vector<int64_t>{1, 1})
    throw NotSupported(
        "Winograd convolution: strides and dilation of 1, one group, and data NCHW{i}c with a weight "
        "HWOI{i}i{o}o, or NCHW with HWOI, of " +
        std::to_string(vertical.inputs) + " x " + std::to_string(horizontal.inputs) + " are needed");
  const int in_block = packed ? as_int(data.extent(4)) : 1;
  const Dim height = out_shape[2], width = out_shape[3],
            tiles_across = floor_div(width + (across_m - 1), across_m);
  const Halide::Expr across = as_expr(tiles_across);
  const Halide::Type type = halide_type(c.out().dtype());

  // The tiles reach over the right and lower edge: there, too, they read zeros.
  Padding2D pad = *padding_2d(attrs.padding);
  const auto beyond = [](Dim reached, Dim extent) {
    const Dim rest = reached - extent;
    return rest.is_any() ? 1 : rest.value();  // perhaps some
  };
  pad.bottom += beyond(floor_div(height + (down_m - 1), down_m) * down_m, height);
  pad.right += beyond(tiles_across * across_m, width);
  const Halide::Func padded = packed_pad(c, data, pad);
  const Halide::Var i("i"), o("o"), x("x"), y("y"), tile("t"), cb("cb"), ob("ob"), n("n"), ex("ex"), ey("ey"),
      p("p"), q("q");

  auto input = [&](Halide::Expr ci, Halide::Expr px, Halide::Expr py) {
    return cast(type, packed ? padded(ci, px, py, cb, n) : padded(px, py, cb, n));
  };
  Halide::Func in_rows = c.stage("in_xf1"), in_xf = c.stage("in_xf");
  in_rows(i, p, ey, tile, cb, n) = matrix_product(vertical.matrices.data, type, ey, [&](int j) {
    return input(i, tile % across * across_m + p, tile / across * down_m + j);
  });
  in_xf(i, tile, cb, ex, ey, n) = matrix_product(horizontal.matrices.data, type, ex,
                                                 [&](int j) { return in_rows(i, j, ey, tile, cb, n); });

  const Halide::RDom r(0, in_block, 0, as_int(data.extent(1)), "r");
  const Halide::Expr u = packed ? weight(ey, ex, ob, r[1], r[0], o) : weight(ey, ex, ob, r[1]);
  Halide::Func acc = c.stage("gemm_acc"), gemm = c.stage("gemm");
  acc(o, tile, ob, ex, ey, n) = cast(type, 0);
  acc(o, tile, ob, ex, ey, n) += cast(type, u) * in_xf(r[0], tile, r[1], ex, ey, n);
  gemm(o, tile, ob, ex, ey, n) = acc(o, tile, ob, ex, ey, n);

  Halide::Func out_rows = c.stage("out_xf1"), out_xf = c.stage("out_xf"), out = c.stage("out");
  out_rows(o, ex, q, tile, ob, n) =
      matrix_product(vertical.matrices.result, type, q, [&](int j) { return gemm(o, tile, ob, ex, j, n); });
  out_xf(o, p, q, tile, ob, n) = matrix_product(horizontal.matrices.result, type, p,
                                                [&](int j) { return out_rows(o, j, q, tile, ob, n); });
  const Halide::Expr value = out_xf(packed ? Halide::Expr(o) : Halide::Expr(0), x % across_m, y % down_m,
                                    x / across_m + across * (y / down_m), ob, n);
  if (packed)
    out(o, x, y, ob, n) = value;
  else
    out(x, y, ob, n) = value;
  c.result(out);
}

// nn.contrib_conv2d_winograd_weight_transform: weight (O, I, r, s) -> (a, b, O, I). Stages "rows" and
// "transform".
void winograd_weight_transform_compute(Compute& c, const ConvWinogradWeightTransformAttrs& attrs) {
  const Tensor& weight = c.in(0);
  const std::vector<int64_t> transformed = c.out().extents();
  const TileAxis vertical = tile_axis(attrs.tile_size, weight.extent(2), transformed[0]),
                 horizontal = tile_axis(attrs.tile_size, weight.extent(3), transformed[1]);
  const Halide::Type type = halide_type(c.out().dtype());
  const Halide::Type wide = type.is_float() ? Halide::Float(64) : type;  // computed once, so let it be exact
  const Halide::Var in("i"), out("o"), ex("ex"), ey("ey"), k("k");
  Halide::Func rows = c.stage("rows"), result = c.stage("transform");
  rows(k, ey, in, out) = matrix_product(vertical.matrices.kernel, wide, ey,
                                        [&](int j) { return cast(wide, weight(out, in, j, k)); });
  result(in, out, ex, ey) = cast(type, matrix_product(horizontal.matrices.kernel, wide, ex,
                                                      [&](int j) { return rows(j, ey, in, out); }));
  c.result(result);
}

}  // namespace

const OpDef& op_nn_contrib_conv2d_winograd_without_weight_transform() {
  static const OpDef def = OpSpec<Conv2DWinogradAttrs>{
      .name = "nn.contrib_conv2d_winograd_without_weight_transform",
      .doc =
          "nn.conv2d by Winograd's algorithm, without strides; the weight was transformed before, for the "
          "same "
          "tile_size.",
      .inputs = {{"data", "tensor in data_layout"},
                 {"weight", "result of nn.contrib_conv2d_winograd_weight_transform, possibly packed"}},
      .fuse = Fuse::kOutFusable,
      .relation = [](RelationContext& ctx,
                     const Conv2DWinogradAttrs& attrs) { return packed_conv2d_relation(ctx, attrs); },
      .compute = conv2d_winograd_compute,
      .cost = conv_cost,
      .rules = op_rules(conv_brief(), conv_layout_flow(), conv_macs(), AnchorRule{"conv_winograd"}),
      .test_shapes =
          {"(1, 3, 8, 8)f32, (4, 4, 8, 3)f32, tile_size=2, padding=[1, 1], channels=8, kernel_size=[3, 3]",
           "(1, 3, 8, 9)f32, (1, 10, 8, 3)f32, tile_size=4, padding=[0, 3], channels=8, kernel_size=[1, 7]"},
  };
  return def;
}

const OpDef& op_nn_contrib_conv2d_winograd_weight_transform() {
  static const OpDef def = OpSpec<ConvWinogradWeightTransformAttrs>{
      .name = "nn.contrib_conv2d_winograd_weight_transform",
      .doc =
          "The weight of a convolution as Winograd's algorithm wants it: (O, I, r, s) -> (t + r - 1, t + s - "
          "1, "
          "O, I), t = tile_size.",
      .inputs = {{"weight", "tensor (O, I, height, width)"}},
      .fuse = Fuse::kOutFusable,
      .relation =
          [](RelationContext& ctx, const ConvWinogradWeightTransformAttrs& attrs) {
            const TensorTypeNode* weight = ctx.tensor(0);
            if (!weight) return kDefer;
            if (!check_rank(ctx, *weight, 4, 0)) return kFailed;
            if (!check_least(ctx, "tile_size", {&attrs.tile_size, 1}, 1)) return kFailed;
            std::vector<Dim> shape;
            for (int axis : {2, 3}) {
              const Dim kernel = weight->shape()[axis];
              const bool skipped = attrs.skip_unit_axes && kernel == Dim(1);
              shape.push_back(skipped ? kernel : kernel + (attrs.tile_size - 1));
            }
            shape.push_back(weight->shape()[0]);
            shape.push_back(weight->shape()[1]);
            return ctx.assign_result(tensor_type(std::move(shape), weight->dtype()));
          },
      .compute = winograd_weight_transform_compute,
      .test_shapes = {"(4, 3, 3, 3)f32, tile_size=2", "(4, 3, 7, 1)f32, tile_size=4, skip_unit_axes=True"},
  };
  return def;
}

}  // namespace baton
