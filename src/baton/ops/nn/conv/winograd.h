#pragma once
// Winograd's minimal filtering, F(m, 3): m outputs from a = m + 2 inputs by a products,
//   y = A^T [ (G g) . (B^T d) ]
// with d the inputs and g the kernel; over more axes the matrices are applied to one axis after the other.
// The matrices are those of the points 0, -1, 1 (m = 2) and 0, 1, -1, 2, -2 (m = 4) and infinity.
#include <cstdint>
#include <functional>
#include <vector>

#include <Halide.h>

#include "baton/ir/attrs.h"

namespace baton {

struct ConvWinogradWeightTransformAttrs {
  int64_t tile_size = 0;  ///< rows of output a tile makes; the transformed tile has tile_size + kernel - 1
};

template <>
const AttrSchema& attr_schema<ConvWinogradWeightTransformAttrs>();

struct WinogradMatrices {
  std::vector<std::vector<double>> data, kernel, result;  ///< B^T, G, A^T
};

/// For m = 2 and 4; else NotSupported.
const WinogradMatrices& winograd_matrices(int tile);

/// Matrix times the vector whose element j is `at(j)`, as an expression of the row's number: contains all
/// rows; unrolling selects one each.
Halide::Expr matrix_product(const std::vector<std::vector<double>>& matrix, Halide::Type type,
                            const Halide::Expr& row, const std::function<Halide::Expr(int)>& at);

}  // namespace baton
