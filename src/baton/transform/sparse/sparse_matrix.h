#pragma once
// Matrices with few values that are not zero.
#include <cstdint>
#include <vector>

#include "baton/support/base/ndarray.h"

namespace baton {

struct DenseMatrix {
  int64_t rows = 0, columns = 0;
  std::vector<float> values;  ///< row by row
};

/// By blocks of some rows and columns: those that are not all zero, row of blocks by row of blocks.
struct SparseMatrix {
  NDArray data;        ///< float32 (blocks, rows of a block, columns of a block)
  NDArray indices;     ///< int32: which column of blocks each block stands in
  NDArray row_starts;  ///< int32: the first block of each row of blocks, and the end
};

/// A float32 weight with two axes that are not 1 as a matrix with `output` along its rows and `input` along
/// its columns.
DenseMatrix output_by_input(const NDArray& weight, size_t output, size_t input);
double share_of_zeros(const DenseMatrix& matrix);
/// Rows and columns must be multiples of the block's.
SparseMatrix block_sparse(const DenseMatrix& matrix, int64_t block_rows, int64_t block_columns);

}  // namespace baton
