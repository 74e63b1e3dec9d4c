#include "baton/transform/sparse/sparse_matrix.h"

#include <algorithm>

#include "baton/support/error.h"

namespace baton {

namespace {

template <class T>
NDArray array_of(const std::vector<T>& values, std::vector<int64_t> shape, DType dtype) {
  return NDArray::from_bytes(std::move(shape), dtype, values.data());
}

}  // namespace

DenseMatrix output_by_input(const NDArray& weight, size_t output, size_t input) {
  const auto& shape = weight.shape();
  BATON_CHECK(weight.dtype() == DType::float_(32) && output < shape.size() && input < shape.size(),
              "a float32 weight");
  const auto stride = [&](size_t axis) {
    int64_t stride = 1;
    for (size_t i = axis + 1; i < shape.size(); ++i) stride *= shape[i];
    return stride;
  };
  DenseMatrix matrix{shape[output], shape[input], {}};
  matrix.values.reserve(static_cast<size_t>(matrix.rows * matrix.columns));
  const auto* values = static_cast<const float*>(weight.data());
  for (int64_t o = 0; o < matrix.rows; ++o)
    for (int64_t i = 0; i < matrix.columns; ++i)
      matrix.values.push_back(values[o * stride(output) + i * stride(input)]);
  return matrix;
}

double share_of_zeros(const DenseMatrix& matrix) {
  if (matrix.values.empty()) return 0;
  return static_cast<double>(std::ranges::count(matrix.values, 0.0f)) /
         static_cast<double>(matrix.values.size());
}

SparseMatrix block_sparse(const DenseMatrix& matrix, int64_t block_rows, int64_t block_columns) {
  BATON_CHECK(matrix.rows % block_rows == 0 && matrix.columns % block_columns == 0, "blocks that fit");
  std::vector<float> data, block;
  std::vector<int32_t> indices, starts{0};
  for (int64_t row = 0; row < matrix.rows; row += block_rows) {
    for (int64_t column = 0; column < matrix.columns; column += block_columns) {
      block.clear();
      for (int64_t r = row; r < row + block_rows; ++r)
        for (int64_t c = column; c < column + block_columns; ++c)
          block.push_back(matrix.values[static_cast<size_t>(r * matrix.columns + c)]);
      if (std::ranges::all_of(block, [](float value) { return value == 0; })) continue;
      data.insert(data.end(), block.begin(), block.end());
      indices.push_back(static_cast<int32_t>(column / block_columns));
    }
    starts.push_back(static_cast<int32_t>(indices.size()));
  }
  const auto blocks = static_cast<int64_t>(indices.size());
  const DType index = DType::int_(32);
  return {array_of(data, {blocks, block_rows, block_columns}, DType::float_(32)),
          array_of(indices, {blocks}, index), array_of(starts, {static_cast<int64_t>(starts.size())}, index)};
}

}  // namespace baton
