// Winograd convolutions over three axes. The depth is one of Winograd's axes, or one that is summed over
// plainly.
#include "baton/ops/nn/conv/winograd3d_compute.h"

#include "baton/ops/domain.h"
#include "baton/ops/nn/conv/conv_nd_compute.h"
#include "baton/ops/nn/conv/winograd_matrices.h"

namespace baton {

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
      weight.extent(4) != in[1])
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

}  // namespace baton
