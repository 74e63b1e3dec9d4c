#include "baton/ops/nn/pool/pool_window.h"

#include "baton/ops/domain.h"

namespace baton {

Cell cell_of(const PoolWindow& w, const std::vector<Dim>& data, Index at, const Index& cell) {
  Halide::Expr inside = Halide::Internal::const_true();
  for (size_t k = 0; k < w.axes.size(); ++k) {
    const int axis = w.axes[k];
    const Halide::Expr position =
        at[axis] * as_int(w.strides[k]) + cell[k] * as_int(w.dilation[k]) - as_int(w.before[k]);
    inside = inside && position >= 0 && position < as_expr(data[axis]);
    at[axis] = inside_axis(position, data[axis]);
  }
  return {std::move(at), inside};
}

namespace {

// Cells that ceil_mode adds beyond the padding never count.
Halide::Expr counted_cells(const PoolWindow& w, const std::vector<Dim>& data, const Index& at, bool padded) {
  Halide::Expr count = 1;
  for (size_t k = 0; k < w.axes.size(); ++k) {
    const int axis = w.axes[k], step = as_int(w.dilation[k]), size = as_int(w.size[k]);
    const Halide::Expr first = at[axis] * as_int(w.strides[k]) - as_int(w.before[k]);
    const int from = padded ? -as_int(w.before[k]) : 0;
    const Halide::Expr limit = as_expr(data[axis] + (padded ? w.after[k] : 0));
    const Halide::Expr skipped = clamp((from - first + step - 1) / step, 0, size);
    const Halide::Expr reached = clamp((limit - first + step - 1) / step, 0, size);
    count = count * (reached - skipped);
  }
  return count;
}

// Whether some window along axis `k` of the window has no cell in the data.
bool misses_data(const PoolWindow& w, size_t k, Dim extent, Dim positions) {
  // At any length, windows reach from the padding into the data where these are longer than it. The last one
  // may begin a step later than the padding asks for (ceil_mode).
  if (extent.is_any() || positions.is_any())
    return w.dilation[k] != 1 || w.before[k] >= w.size[k] || w.after[k] + w.strides[k] - 1 >= w.size[k];
  const int64_t data = extent.value(), out = positions.value();
  for (int64_t at = 0; at < out; ++at) {
    const int64_t first = at * w.strides[k] - w.before[k],
                  skipped = first < 0 ? (-first + w.dilation[k] - 1) / w.dilation[k] : 0;
    if (skipped >= w.size[k] || first + skipped * w.dilation[k] >= data) return true;
  }
  return false;
}

}  // namespace

Halide::Expr first_maximum(const PoolWindow& w, const std::vector<Dim>& data, const std::vector<Dim>& out,
                           const Index& at, Halide::Type type) {
  bool misses = false;
  for (size_t k = 0; k < w.axes.size(); ++k) misses |= misses_data(w, k, data[w.axes[k]], out[w.axes[k]]);
  if (!misses) return lowest(type);
  return select(counted_cells(w, data, at, false) == 0, least_finite(type), lowest(type));
}

Halide::Expr cell_count(const PoolWindow& w, const std::vector<Dim>& data, const Index& at, bool padded) {
  return max(counted_cells(w, data, at, padded), 1);
}

}  // namespace baton
