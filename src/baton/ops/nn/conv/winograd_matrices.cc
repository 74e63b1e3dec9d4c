#include "baton/ops/nn/conv/winograd_matrices.h"

#include <string>

#include "baton/support/error.h"

namespace baton {

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

}  // namespace

const WinogradMatrices& winograd_matrices(int tile) {
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
  if (tile == 2) return two;
  if (tile == 4) return four;
  throw NotSupported("Winograd convolution with tiles of " + std::to_string(tile) +
                     ": there are transforms for 2 and 4");
}

Halide::Expr matrix_product(const std::vector<std::vector<double>>& matrix, Halide::Type type,
                            const Halide::Expr& row, const std::function<Halide::Expr(int)>& at) {
  std::vector<Halide::Expr> rows;
  for (const auto& coefficients : matrix) rows.push_back(combine(coefficients, type, at));
  return mux(row, rows);
}

}  // namespace baton
