#pragma once
// Views of tensors: extents and strides, as regions of oneDNN describe operands. For .cc files of this folder
// only.
#include <cstdint>
#include <span>
#include <vector>

#include "baton/runtime/plugins/dnnl/region_blob.h"

namespace baton::dnnl_blob {

/// Strides of row-major order without gaps.
Dims dense_strides(const Dims& dims);
int64_t elements(const Dims& dims);
/// Whether the elements lie in row-major order without gaps.
bool is_dense(const View& view);

/// The view with its axis order[i] as axis i.
View permuted(const View& view, const std::vector<int>& order);
Dims permuted(const Dims& dims, const std::vector<int>& order);
std::vector<int> inverse(const std::vector<int>& order);
std::vector<int> same_order(size_t rank);

/// The view right-aligned to `rank` axes: ones in front.
View aligned(View view, size_t rank);
/// The view of a vector as one of `rank` axes that goes along `axis`: ones elsewhere.
View along_axis(const View& vector, size_t rank, size_t axis);
/// Whether `part` broadcasts to `whole`, both of the same rank.
bool broadcasts(const Dims& part, const Dims& whole);

/// The largest sum of absolute values over all axes of `view` but those that go along `outputs`.
int64_t largest_sum(std::span<const int8_t> values, const View& view, const std::vector<bool>& outputs);

}  // namespace baton::dnnl_blob
