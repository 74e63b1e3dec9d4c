// Winograd convolutions over three axes. The depth is either transformed too, or summed directly.
#include "baton/ir/rules/brief.h"
#include "baton/ops/nn/conv/conv_nd.h"
#include "baton/ops/nn/conv/winograd.h"
#include "baton/ops/op_spec.h"

namespace baton {

/// nn.contrib_conv3d_winograd_without_weight_transform: the weight is transformed already.
struct Conv3DWinogradAttrs : Conv3DAttrs {
  int64_t tile_size = 0;
};

template <>
const AttrSchema& attr_schema<Conv3DWinogradAttrs>() {
  static const AttrSchema schema = [] {
    auto fields = conv_fields<Conv3DWinogradAttrs>();
    fields.insert(fields.begin(), {"tile_size", &Conv3DWinogradAttrs::tile_size,
                                   "output of one tile along an axis", kNoDefault});
    return make_schema<Conv3DWinogradAttrs>("relay.attrs.Conv3DWinogradAttrs", std::move(fields));
  }();
  return schema;
}

namespace {

RelationStatus winograd3d_relation(RelationContext& ctx, const Conv3DWinogradAttrs& attrs) {
  if (!ctx.tensor(0)) return kDefer;
  const std::optional<ConvFacts> conv = read_conv(ctx, attrs, 3);
  if (!conv) return kFailed;
  if (!attrs.channels)
    return fail_attr(ctx, "channels", "None", "it is needed, as the weight is transformed");
  if (!attrs.kernel_size)
    return fail_attr(ctx, "kernel_size", "None", "it is needed, as the weight is transformed");
  const std::vector<Dim> kernel(attrs.kernel_size->begin(), attrs.kernel_size->end());
  return assign_conv_result(ctx, attrs, *conv, *attrs.channels, kernel);
}

// The depth is transformed like height and width when the kernel is a cube of 3 to 7; else it stays an axis
// of its own.
RelationStatus winograd3d_weight_relation(RelationContext& ctx,
                                          const ConvWinogradWeightTransformAttrs& attrs) {
  const TensorTypeNode* weight = ctx.tensor(0);
  if (!weight) return kDefer;
  if (!check_rank(ctx, *weight, 5, 0)) return kFailed;
  if (!check_least(ctx, "tile_size", {&attrs.tile_size, 1}, 1)) return kFailed;
  if (attrs.skip_unit_axes)
    return fail_attr(ctx, "skip_unit_axes", "True", "it is for kernels over two axes");
  const std::vector<Dim>& in = weight->shape();
  const bool with_depth = !in[2].is_any() && in[2] == in[3] && in[2].value() > 2 && in[2].value() < 8;
  std::vector<Dim> shape;
  for (int axis = with_depth ? 2 : 3; axis < 5; ++axis) {
    const Dim kernel = in[axis];
    const auto tile = kernel.is_any()
                          ? kernel + (attrs.tile_size - 1)
                          : checked_extent(ctx, static_cast<WideInt>(kernel.value()) + attrs.tile_size - 1);
    if (!tile) return kFailed;
    shape.push_back(*tile);
  }
  if (!with_depth) shape.push_back(in[2]);
  shape.push_back(in[0]);
  shape.push_back(in[1]);
  return ctx.assign_result(tensor_type(std::move(shape), weight->dtype()));
}

// Weight (O, I, 3, 3, 3) -> (a, a, a, O, I), a = tile_size + 2; (O, I, d, 3, 3) -> (a, a, d, O, I) for other
// depths.
void winograd3d_weight_compute(Compute& c, const ConvWinogradWeightTransformAttrs& attrs) {
  const Tensor& weight = c.in(0);
  const std::vector<int64_t> out = c.out().extents();
  const bool with_depth = out[2] != weight.extent(2) || weight.extent(2) == weight.extent(3);
  if (weight.extent(3) != 3 || weight.extent(4) != 3 || (with_depth && weight.extent(2) != 3))
    throw NotSupported("the Winograd transform of a kernel that is not 3 x 3 or 3 x 3 x 3");
  const WinogradMatrices& t = winograd_matrices(as_int(attrs.tile_size));
  const Halide::Type type = halide_type(c.out().dtype());
  const Halide::Type wide = type.is_float() ? Halide::Float(64) : type;  // computed once, so let it be exact
  const Halide::Var i("i"), o("o"), ez("ez"), ey("ey"), ex("ex"), ky("ky"), kx("kx");
  Halide::Func deep = c.stage("depths"), rows = c.stage("rows"), result = c.stage("transform");
  auto at = [&](Halide::Expr z, Halide::Expr y, Halide::Expr x) {
    return cast(wide, weight(Index{o, i, z, y, x}));
  };
  if (with_depth)
    deep(kx, ky, ez, i, o) = matrix_product(t.kernel, wide, ez, [&](int k) { return at(k, ky, kx); });
  else
    deep(kx, ky, ez, i, o) = at(ez, ky, kx);
  rows(kx, ey, ez, i, o) = matrix_product(t.kernel, wide, ey, [&](int k) { return deep(kx, k, ez, i, o); });
  const Halide::Expr value = matrix_product(t.kernel, wide, ex, [&](int k) { return rows(k, ey, ez, i, o); });
  if (with_depth)
    result(i, o, ex, ey, ez) = cast(type, value);
  else
    result(i, o, ez, ex, ey) = cast(type, value);
  c.result(result);
}

// Strides and dilations of 1, one group; the weight is a result of the above.
void conv3d_winograd_compute(Compute& c, const Conv3DWinogradAttrs& attrs) {
  const ConvNd conv = conv_nd(attrs, 3);
  const Layout canonical = *Layout::parse("NCDHW");
  const Tensor &data = c.in(0), &weight = c.in(1);
  const int m = as_int(attrs.tile_size), a = m + 2, kernel_depth = as_int((*attrs.kernel_size)[0]);
  const WinogradMatrices& t = winograd_matrices(m);
  const bool with_depth =
      kernel_depth > 2 && kernel_depth < 8 && (*attrs.kernel_size)[0] == (*attrs.kernel_size)[1];
  const std::vector<int64_t> ones{1, 1, 1}, in = convert_shape(data.shape(), conv.data_layout, canonical);
  if (attrs.groups != 1 || attrs.strides != ones || attrs.dilation != ones || weight.rank() != 5 ||
      weight.extent(0) != a || weight.extent(1) != a || weight.extent(2) != (with_depth ? a : kernel_depth) ||
      weight.extent(3) != *attrs.channels || weight.extent(4) != in[1])
    throw NotSupported(
        "Winograd convolution: strides and dilations of 1, one group and a weight transformed for its "
        "tile_size are needed");
  const Halide::Type type = halide_type(c.out().dtype());
  const int step = with_depth ? m : 1;  // along the depth

  Halide::Func padded = c.stage("pad");
  const Axes j(5, "p");
  Index source = j.exprs();
  Halide::Expr inside = Halide::Internal::const_true();
  for (int k = 0; k < 3; ++k) {
    const Halide::Expr position = j[2 + k] - as_int(conv.before[k]);
    inside = inside && position >= 0 && position < as_int(in[2 + k]);
    source[2 + k] = inside_axis(position, in[2 + k]);
  }
  padded(j.reversed()) =
      select(inside, cast(type, data(convert_index<Halide::Expr>(source, canonical, conv.data_layout))),
             cast(type, 0));

  // Tiles (z, y, x) with elements (ez, ey, ex): one axis is transformed after the other. A plain depth has
  // one "element" for each of the kernel's planes.
  const Halide::Var n("n"), i("i"), o("o"), z("z"), y("y"), x("x"), ez("ez"), ey("ey"), ex("ex"), py("py"),
      px("px"), qz("qz"), qy("qy"), qx("qx");
  Halide::Func in_z = c.stage("in_xf_depth"), in_y = c.stage("in_xf_rows"), in_x = c.stage("in_xf");
  auto input = [&](const Halide::Expr& pz) { return padded(x * m + px, y * m + py, z * step + pz, i, n); };
  if (with_depth)
    in_z(px, py, ez, x, y, z, i, n) = matrix_product(t.data, type, ez, [&](int k) { return input(k); });
  else
    in_z(px, py, ez, x, y, z, i, n) = input(ez);
  in_y(px, ey, ez, x, y, z, i, n) =
      matrix_product(t.data, type, ey, [&](int k) { return in_z(px, k, ez, x, y, z, i, n); });
  in_x(ex, ey, ez, x, y, z, i, n) =
      matrix_product(t.data, type, ex, [&](int k) { return in_y(k, ey, ez, x, y, z, i, n); });

  Halide::Func sums = c.stage("gemm");
  sums(ex, ey, ez, x, y, z, o, n) = cast(type, 0);
  if (with_depth) {
    const Domain r({in[1]});
    sums(ex, ey, ez, x, y, z, o, n) +=
        cast(type, weight(Index{ez, ey, ex, o, r[0]})) * in_x(ex, ey, ez, x, y, z, r[0], n);
  } else {
    const Domain r({in[1], kernel_depth});
    sums(ex, ey, ez, x, y, z, o, n) +=
        cast(type, weight(Index{ey, ex, r[1], o, r[0]})) * in_x(ex, ey, r[1], x, y, z, r[0], n);
  }
  Halide::Func out_z = c.stage("out_xf_depth"), out_y = c.stage("out_xf_rows"), out_x = c.stage("out_xf"),
               result = c.stage("out");
  if (with_depth)
    out_z(ex, ey, qz, x, y, z, o, n) =
        matrix_product(t.result, type, qz, [&](int k) { return sums(ex, ey, k, x, y, z, o, n); });
  else
    out_z(ex, ey, qz, x, y, z, o, n) = sums(ex, ey, 0, x, y, z, o, n);
  out_y(ex, qy, qz, x, y, z, o, n) =
      matrix_product(t.result, type, qy, [&](int k) { return out_z(ex, k, qz, x, y, z, o, n); });
  out_x(qx, qy, qz, x, y, z, o, n) =
      matrix_product(t.result, type, qx, [&](int k) { return out_y(k, qy, qz, x, y, z, o, n); });
  const Axes at(conv.out_layout.rank());
  const Index to = convert_index<Halide::Expr>(at.exprs(), conv.out_layout, canonical);
  result(at.reversed()) =
      out_x(to[4] % m, to[3] % m, to[2] % step, to[4] / m, to[3] / m, to[2] / step, to[1], to[0]);
  c.result(result);
}

}  // namespace

const OpDef& op_nn_contrib_conv3d_winograd_without_weight_transform() {
  static const OpDef def = OpSpec<Conv3DWinogradAttrs>{
      .name = "nn.contrib_conv3d_winograd_without_weight_transform",
      .doc = "nn.conv3d by Winograd's algorithm; the weight was transformed before, for the same tile_size.",
      .inputs = {{"data", "tensor in data_layout"},
                 {"weight", "result of nn.contrib_conv3d_winograd_weight_transform"}},
      .fuse = Fuse::kOutFusable,
      .relation = winograd3d_relation,
      .compute = conv3d_winograd_compute,
      .cost = conv_cost,
      .rules = op_rules(conv_brief(), conv_layout_flow()),
      .test_shapes =
          {"(1, 3, 6, 6, 6)f32, (4, 4, 4, 8, 3)f32, tile_size=2, channels=8, kernel_size=[3, 3, 3]"},
  };
  return def;
}

const OpDef& op_nn_contrib_conv3d_winograd_weight_transform() {
  static const OpDef def = OpSpec<ConvWinogradWeightTransformAttrs>{
      .name = "nn.contrib_conv3d_winograd_weight_transform",
      .doc = "The weight (O, I, D, H, W) of a convolution over three axes as Winograd's algorithm wants it.",
      .inputs = {{"weight", "tensor (O, I, depth, height, width)"}},
      .fuse = Fuse::kOutFusable,
      .relation = winograd3d_weight_relation,
      .compute = winograd3d_weight_compute,
      .test_shapes = {"(4, 3, 3, 3, 3)f32, tile_size=2"},
  };
  return def;
}

}  // namespace baton
