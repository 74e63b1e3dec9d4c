#include "baton/codegen/dnnl/views.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>

namespace baton::dnnl_blob {

Dims dense_strides(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

int64_t elements(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

bool is_dense(const View& view) {
  const Dims dense = dense_strides(view.dims);
  for (size_t i = 0; i < view.dims.size(); ++i)
    if (view.dims[i] != 1 && view.strides[i] != dense[i]) return false;
  return true;
}

View permuted(const View& view, const std::vector<int>& order) {
  View result{view.tensor, {}, {}};
  for (const int axis : order) {
    result.dims.push_back(view.dims[static_cast<size_t>(axis)]);
    result.strides.push_back(view.strides[static_cast<size_t>(axis)]);
  }
  return result;
}

Dims permuted(const Dims& dims, const std::vector<int>& order) {
  return permuted(View{0, dims, dims}, order).dims;
}

std::vector<int> inverse(const std::vector<int>& order) {
  std::vector<int> back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int>(i);
  return back;
}

std::vector<int> same_order(size_t rank) {
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

View aligned(View view, size_t rank) {
  while (view.dims.size() < rank) {
    view.dims.insert(view.dims.begin(), 1);
    view.strides.insert(view.strides.begin(), 1);
  }
  return view;
}

View along_axis(const View& vector, size_t rank, size_t axis) {
  View view{vector.tensor, Dims(rank, 1), Dims(rank, 1)};
  view.dims[axis] = vector.dims[0];
  view.strides[axis] = vector.strides[0];
  return view;
}

bool broadcasts(const Dims& part, const Dims& whole) {
  for (size_t i = 0; i < whole.size(); ++i)
    if (part[i] != 1 && part[i] != whole[i]) return false;
  return part.size() == whole.size();
}

int64_t largest_sum(std::span<const int8_t> values, const View& view, const std::vector<bool>& outputs) {
  int64_t rows = 1;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i]) rows *= view.dims[i];
  const int64_t all = elements(view.dims);
  std::vector<int64_t> sums(static_cast<size_t>(rows));
  Dims at(view.dims.size(), 0);
  for (int64_t n = 0; n < all; ++n) {
    int64_t from = 0, row = 0;
    for (size_t i = 0; i < at.size(); ++i) {
      from += at[i] * view.strides[i];
      if (outputs[i]) row = row * view.dims[i] + at[i];
    }
    sums[static_cast<size_t>(row)] += std::abs(static_cast<int>(values[static_cast<size_t>(from)]));
    for (size_t i = at.size(); i-- > 0 && ++at[i] == view.dims[i];) at[i] = 0;
  }
  return *std::ranges::max_element(sums);
}

}  // namespace baton::dnnl_blob
