#pragma once
// Winograd's minimal filtering, F(m, r): m outputs of a kernel of r taps from a = m + r - 1 inputs by a
// products,
//   y = A^T [ (G g) . (B^T d) ]
// with d the inputs and g the kernel; over more axes the matrices are applied to one axis after the other.
// The matrices are those of the first a - 1 of the points 0, 1, -1, 2, -2, 1/2, -1/2, 3/4, -3/4 and of
// infinity (Toom-Cook; F(2, 3) has rows of the other sign).
#include <cstdint>
#include <functional>
#include <vector>

#include <Halide.h>

#include "baton/ir/attrs.h"

namespace baton {

struct ConvWinogradWeightTransformAttrs {
  int64_t tile_size = 0;  ///< rows of output a tile makes; the transformed tile has tile_size + kernel - 1
  bool skip_unit_axes = false;  ///< kernel axes of extent 1 are not transformed and stay as they are
};

template <>
const AttrSchema& attr_schema<ConvWinogradWeightTransformAttrs>();

struct WinogradMatrices {
  std::vector<std::vector<double>> data, kernel, result;  ///< B^T, G, A^T
};

/// For m = 2 and 4 and kernels of 2 to 7 taps; of one tap and m = 1 the identity. Else NotSupported. The
/// error of F(4, 7) along one axis is 5e-6 of the largest output, as that of F(4, 3) along two axes.
const WinogradMatrices& winograd_matrices(int tile, int taps = 3);

/// Matrix times the vector whose element j is `at(j)`, as an expression of the row's number: contains all
/// rows; unrolling selects one each.
Halide::Expr matrix_product(const std::vector<std::vector<double>>& matrix, Halide::Type type,
                            const Halide::Expr& row, const std::function<Halide::Expr(int)>& at);

}  // namespace baton
