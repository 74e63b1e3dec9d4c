#pragma once
// Pools over any number of spatial axes, adaptive pools, and the gradients of pools.
#include <string>
#include <vector>

#include "baton/ops/compute_util.h"

namespace baton {

/// A window that moves over the axes `axes` of the data.
struct PoolWindow {
  std::vector<int> axes;  ///< positions in the layout
  std::vector<int64_t> size, strides, dilation, before, after;
};

/// The window of a pool with these attributes; `letters` are the spatial axes, "DHW".
template <class A>
PoolWindow pool_window(const A& attrs, const std::string& letters);

void max_pool_compute(Compute& c, const PoolWindow& window);
void avg_pool_compute(Compute& c, const PoolWindow& window, bool count_include_pad);

/// Input 0: the gradient by the pool's result; input 1: the pool's data.
void max_pool_grad_compute(Compute& c, const PoolWindow& window);
void avg_pool_grad_compute(Compute& c, const PoolWindow& window, bool count_include_pad);

/// Each axis of `axes` is cut into as many parts as the result has there.
void adaptive_pool_compute(Compute& c, const std::vector<int>& axes, bool mean);

/// Positions of the letters in a layout.
std::vector<int> layout_axes(const std::string& layout, const std::string& letters);
/// 1, n or 2n values as the n values before and the n after.
void split_padding(const std::vector<int64_t>& padding, size_t n, std::vector<int64_t>* before,
                   std::vector<int64_t>* after);

template <class A>
PoolWindow pool_window(const A& attrs, const std::string& letters) {
  PoolWindow window{
      layout_axes(attrs.layout, letters), attrs.pool_size, attrs.strides, attrs.dilation, {}, {}};
  window.dilation.resize(letters.size(), 1);
  split_padding(attrs.padding, letters.size(), &window.before, &window.after);
  return window;
}

}  // namespace baton
