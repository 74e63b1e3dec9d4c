#include "baton/ops/nn/conv/winograd.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "baton/support/error.h"

namespace baton {

template <>
const AttrSchema& attr_schema<ConvWinogradWeightTransformAttrs>() {
  using A = ConvWinogradWeightTransformAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.ConvWinogradWeightTransformAttrs",
      {{"tile_size", &A::tile_size, "rows and columns of output per tile", kNoDefault},
       {"skip_unit_axes", &A::skip_unit_axes, "whether kernel axes of extent 1 stay as they are"}});
  return schema;
}

namespace {

// One row of a matrix times the vector whose element j is `at(j)`.
Halide::Expr combine(const std::vector<double>& row, Halide::Type type,
                     const std::function<Halide::Expr(int)>& at) {
  Halide::Expr sum;
  for (size_t j = 0; j < row.size(); ++j) {
    if (row[j] == 0) continue;
    const Halide::Expr value = at(static_cast<int>(j));
    if (row[j] == 1)
      sum = sum.defined() ? sum + value : value;
    else if (row[j] == -1 && sum.defined())
      sum = sum - value;
    else {
      const Halide::Expr term = value * cast(type, Halide::Expr(row[j]));
      sum = sum.defined() ? sum + term : term;
    }
  }
  return sum;
}

/// The coefficients of the product of (x - p) for all points p, the constant first.
std::vector<double> product_of_roots(const std::vector<double>& points) {
  std::vector<double> product{1};
  for (const double p : points) {
    product.push_back(0);
    for (size_t i = product.size(); i-- > 0;) product[i] = (i > 0 ? product[i - 1] : 0) - p * product[i];
  }
  return product;
}

/// Toom-Cook: the outputs are values of the product of two polynomials at the points, and interpolated.
WinogradMatrices matrices_of_points(int tile, int taps) {
  const std::vector<double> all{0, 1, -1, 2, -2, .5, -.5, .75, -.75};
  const size_t a = static_cast<size_t>(tile + taps - 1);
  const std::vector<double> points(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(a - 1));
  WinogradMatrices matrices;
  matrices.result.assign(static_cast<size_t>(tile), std::vector<double>(a));
  for (size_t k = 0; k + 1 < a; ++k) {
    std::vector<double> others = points;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(k));
    double distance = 1;
    for (const double other : others) distance *= points[k] - other;
    // Either matrix may be scaled if the other is divided: the kernel's, transformed once, is kept near 1.
    double most = 0;
    for (int i = 0; i < taps; ++i) most = std::max(most, std::fabs(std::pow(points[k], i) / distance));
    const double scale = std::exp2(std::round(-std::log2(most)));
    std::vector<double> kernel, data = product_of_roots(others);
    for (int i = 0; i < taps; ++i) kernel.push_back(std::pow(points[k], i) / distance * scale);
    for (double& each : data) each /= scale;
    data.resize(a);
    matrices.kernel.push_back(std::move(kernel));
    matrices.data.push_back(std::move(data));
    for (int i = 0; i < tile; ++i) matrices.result[static_cast<size_t>(i)][k] = std::pow(points[k], i);
  }
  std::vector<double> last(static_cast<size_t>(taps));
  last.back() = 1;
  matrices.kernel.push_back(std::move(last));
  matrices.data.push_back(product_of_roots(points));
  matrices.result.back().back() = 1;
  return matrices;
}

}  // namespace

const WinogradMatrices& winograd_matrices(int tile, int taps) {
  static const WinogradMatrices two = {
      .data = {{1, 0, -1, 0}, {0, -1, 1, 0}, {0, 1, 1, 0}, {0, 1, 0, -1}},
      .kernel = {{1, 0, 0}, {.5, -.5, .5}, {.5, .5, .5}, {0, 0, 1}},
      .result = {{1, 1, 1, 0}, {0, -1, 1, -1}},
  };
  static const WinogradMatrices four = {
      .data = {{4, 0, -5, 0, 1, 0},
               {0, -4, -4, 1, 1, 0},
               {0, 4, -4, -1, 1, 0},
               {0, -2, -1, 2, 1, 0},
               {0, 2, -1, -2, 1, 0},
               {0, 4, 0, -5, 0, 1}},
      .kernel = {{1. / 4, 0, 0},
                 {-1. / 6, -1. / 6, -1. / 6},
                 {-1. / 6, 1. / 6, -1. / 6},
                 {1. / 24, 1. / 12, 1. / 6},
                 {1. / 24, -1. / 12, 1. / 6},
                 {0, 0, 1}},
      .result = {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}},
  };
  static const WinogradMatrices one = {.data = {{1}}, .kernel = {{1}}, .result = {{1}}};
  if (tile == 2 && taps == 3) return two;
  if (tile == 4 && taps == 3) return four;
  if (tile == 1 && taps == 1) return one;
  constexpr int kMostTaps = 7;
  if ((tile != 2 && tile != 4) || taps < 2 || taps > kMostTaps)
    throw NotSupported("Winograd convolution with tiles of " + std::to_string(tile) + " and a kernel of " +
                       std::to_string(taps) +
                       ": there are transforms for tiles of 2 and 4 and kernels of 2 to " +
                       std::to_string(kMostTaps));
  static const auto* const others = [] {
    auto* all = new std::map<std::pair<int, int>, WinogradMatrices>;
    for (const int m : {2, 4})
      for (int r = 2; r <= kMostTaps; ++r) all->emplace(std::pair(m, r), matrices_of_points(m, r));
    return all;
  }();
  return others->at({tile, taps});
}

Halide::Expr matrix_product(const std::vector<std::vector<double>>& matrix, Halide::Type type,
                            const Halide::Expr& row, const std::function<Halide::Expr(int)>& at) {
  std::vector<Halide::Expr> rows;
  for (const auto& coefficients : matrix) rows.push_back(combine(coefficients, type, at));
  return rows.size() == 1 ? rows.front() : mux(row, rows);
}

}  // namespace baton
