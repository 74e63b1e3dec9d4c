// Winograd's minimal filtering, F(m x m, 3 x 3): a tile of m x m outputs from a x a inputs, a = m + 2:
//   Y = A^T [ (G g G^T) . (B^T d B) ] A
// with d the inputs, g the kernel, and `.` element by element, summed over input channels: a * a matrix products. The
// matrices are those of the points 0, -1, 1 (m = 2) and 0, 1, -1, 2, -2 (m = 4) and infinity.
#include <functional>

#include "baton/ops/compute_util.h"
#include "baton/ops/nn/packed_conv_compute.h"
#include "baton/ops/nn/packed_pad.h"

namespace baton {
namespace {

using Matrix = std::vector<std::vector<double>>;

struct Transforms {
  Matrix data, kernel, result;  ///< B^T, G, A^T
};

const Transforms& transforms(int tile) {
  static const Transforms two = {
      .data = {{1, 0, -1, 0}, {0, -1, 1, 0}, {0, 1, 1, 0}, {0, 1, 0, -1}},
      .kernel = {{1, 0, 0}, {.5, -.5, .5}, {.5, .5, .5}, {0, 0, 1}},
      .result = {{1, 1, 1, 0}, {0, -1, 1, -1}},
  };
  static const Transforms four = {
      .data = {{4, 0, -5, 0, 1, 0}, {0, -4, -4, 1, 1, 0}, {0, 4, -4, -1, 1, 0},
               {0, -2, -1, 2, 1, 0}, {0, 2, -1, -2, 1, 0}, {0, 4, 0, -5, 0, 1}},
      .kernel = {{1. / 4, 0, 0}, {-1. / 6, -1. / 6, -1. / 6}, {-1. / 6, 1. / 6, -1. / 6},
                 {1. / 24, 1. / 12, 1. / 6}, {1. / 24, -1. / 12, 1. / 6}, {0, 0, 1}},
      .result = {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}},
  };
  if (tile == 2) return two;
  if (tile == 4) return four;
  throw NotSupported("Winograd convolution with tiles of " + std::to_string(tile) + ": there are transforms for 2 and 4");
}

/// One row of a matrix times the vector whose element j is `at(j)`.
Halide::Expr combine(const std::vector<double>& row, Halide::Type type, const std::function<Halide::Expr(int)>& at) {
  Halide::Expr sum;
  for (size_t j = 0; j < row.size(); ++j) {
    if (row[j] == 0) continue;
    const Halide::Expr value = at(static_cast<int>(j));
    if (row[j] == 1) sum = sum.defined() ? sum + value : value;
    else if (row[j] == -1 && sum.defined()) sum = sum - value;
    else {
      const Halide::Expr term = value * cast(type, Halide::Expr(row[j]));
      sum = sum.defined() ? sum + term : term;
    }
  }
  return sum;
}

/// Matrix times vector, as an expression of the row's number: all rows stand in it, an unrolled loop picks one each.
Halide::Expr product(const Matrix& matrix, Halide::Type type, const Halide::Expr& row, const std::function<Halide::Expr(int)>& at) {
  std::vector<Halide::Expr> rows;
  for (const auto& coefficients : matrix) rows.push_back(combine(coefficients, type, at));
  return mux(row, rows);
}

}  // namespace

void conv2d_winograd_compute(Compute& c, const Conv2DWinogradAttrs& attrs) {
  const int m = as_int(attrs.tile_size);
  const Transforms& t = transforms(m);
  const int a = m + 2;
  const Tensor &data = c.in(0), &weight = c.in(1);
  const bool packed = data.rank() == 5;
  if (weight.rank() != (packed ? 6 : 4) || weight.extent(0) != a || weight.extent(1) != a || attrs.groups != 1 ||
      attrs.strides != std::vector<int64_t>{1, 1} || attrs.dilation != std::vector<int64_t>{1, 1})
    throw NotSupported("Winograd convolution: strides and dilation of 1, one group and a weight HWOI{i}i{o}o of " + std::to_string(a) + " x " +
                       std::to_string(a) + " are needed");
  const std::vector<int64_t> out_shape = c.out().extents();
  const int in_block = packed ? as_int(data.extent(4)) : 1;
  const int height = as_int(out_shape[2]), width = as_int(out_shape[3]);
  const int across = (width + m - 1) / m;
  const Halide::Type type = halide_type(c.out().dtype());

  // The tiles reach over the right and lower edge: there, too, they read zeros.
  Padding2D pad = *padding_2d(attrs.padding);
  pad.bottom += (height + m - 1) / m * m - height;
  pad.right += across * m - width;
  const Halide::Func padded = packed_pad(c, data, pad);
  const Halide::Var i("i"), o("o"), x("x"), y("y"), tile("t"), cb("cb"), ob("ob"), n("n"), ex("ex"), ey("ey"), p("p"), q("q");

  auto input = [&](Halide::Expr ci, Halide::Expr px, Halide::Expr py) {
    return cast(type, packed ? padded(ci, px, py, cb, n) : padded(px, py, cb, n));
  };
  Halide::Func in_rows = c.stage("in_xf1"), in_xf = c.stage("in_xf");
  in_rows(i, p, ey, tile, cb, n) = product(t.data, type, ey, [&](int j) { return input(i, tile % across * m + p, tile / across * m + j); });
  in_xf(i, tile, cb, ex, ey, n) = product(t.data, type, ex, [&](int j) { return in_rows(i, j, ey, tile, cb, n); });

  const Halide::RDom r(0, in_block, 0, as_int(data.extent(1)), "r");
  const Halide::Expr u = packed ? weight(ey, ex, ob, r[1], r[0], o) : weight(ey, ex, ob, r[1]);
  Halide::Func acc = c.stage("gemm_acc"), gemm = c.stage("gemm");
  acc(o, tile, ob, ex, ey, n) = cast(type, 0);
  acc(o, tile, ob, ex, ey, n) += cast(type, u) * in_xf(r[0], tile, r[1], ex, ey, n);
  gemm(o, tile, ob, ex, ey, n) = acc(o, tile, ob, ex, ey, n);

  Halide::Func out_rows = c.stage("out_xf1"), out_xf = c.stage("out_xf"), out = c.stage("out");
  out_rows(o, ex, q, tile, ob, n) = product(t.result, type, q, [&](int j) { return gemm(o, tile, ob, ex, j, n); });
  out_xf(o, p, q, tile, ob, n) = product(t.result, type, p, [&](int j) { return out_rows(o, j, q, tile, ob, n); });
  const Halide::Expr value = out_xf(packed ? Halide::Expr(o) : Halide::Expr(0), x % m, y % m, x / m + across * (y / m), ob, n);
  if (packed) out(o, x, y, ob, n) = value;
  else out(x, y, ob, n) = value;
  c.result(out);
}

void winograd_weight_transform_compute(Compute& c, const ConvWinogradWeightTransformAttrs& attrs) {
  const Tensor& weight = c.in(0);
  if (weight.rank() != 4 || weight.extent(2) != 3 || weight.extent(3) != 3)
    throw NotSupported("the Winograd transform of a kernel that is not 3 x 3");
  const Transforms& t = transforms(as_int(attrs.tile_size));
  const Halide::Type type = halide_type(c.out().dtype());
  const Halide::Type wide = type.is_float() ? Halide::Float(64) : type;  // computed once, so let it be exact
  const Halide::Var in("i"), out("o"), ex("ex"), ey("ey"), k("k");
  Halide::Func rows = c.stage("rows"), result = c.stage("transform");
  rows(k, ey, in, out) = product(t.kernel, wide, ey, [&](int j) { return cast(wide, weight(out, in, j, k)); });
  result(in, out, ex, ey) = cast(type, product(t.kernel, wide, ex, [&](int j) { return rows(j, ey, in, out); }));
  c.result(result);
}

}  // namespace baton
