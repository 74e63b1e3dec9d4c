#pragma once
// Sparse matrices.
#include <cstdint>
#include <vector>

#include "baton/support/base/ndarray.h"

namespace baton {

struct DenseMatrix {
  int64_t rows = 0, columns = 0;
  std::vector<float> values;  ///< row-major
};

/// Block compressed sparse row (BSR) format: the blocks that are not all zero, in row-major order.
struct SparseMatrix {
  NDArray data;        ///< float32 (blocks, rows of a block, columns of a block)
  NDArray indices;     ///< int32: the block column of each block
  NDArray row_starts;  ///< int32: the index of the first block of each block row, then the number of blocks
};

/// A float32 weight with at most two non-unit axes as a matrix with axis `output` along rows and `input`
/// along columns.
DenseMatrix output_by_input(const NDArray& weight, size_t output, size_t input);
double share_of_zeros(const DenseMatrix& matrix);
/// The matrix extents must be multiples of the block's.
SparseMatrix block_sparse(const DenseMatrix& matrix, int64_t block_rows, int64_t block_columns);

}  // namespace baton
