#include "baton/ops/shared/pool_nd_compute.h"

#include "baton/ir/layout.h"
#include "baton/ops/domain.h"

namespace baton {

namespace {

// The cell `cell` of the window at position `at` (an index into the result): where it lies in the data, and
// whether inside.
struct Cell {
  Index at;  // clamped to the data
  Halide::Expr inside;
};

Cell cell_of(const PoolWindow& w, const std::vector<int64_t>& data, Index at, const Index& cell) {
  Halide::Expr inside = Halide::Internal::const_true();
  for (size_t k = 0; k < w.axes.size(); ++k) {
    const int axis = w.axes[k];
    const Halide::Expr position =
        at[axis] * as_int(w.strides[k]) + cell[k] * as_int(w.dilation[k]) - as_int(w.before[k]);
    inside = inside && position >= 0 && position < as_int(data[axis]);
    at[axis] = inside_axis(position, data[axis]);
  }
  return {std::move(at), inside};
}

// How many cells the window at `at` has that count for the mean. Cells that ceil_mode adds beyond the padding
// never do.
Halide::Expr cell_count(const PoolWindow& w, const std::vector<int64_t>& data, const Index& at, bool padded) {
  Halide::Expr count = 1;
  for (size_t k = 0; k < w.axes.size(); ++k) {
    const int axis = w.axes[k], step = as_int(w.dilation[k]), size = as_int(w.size[k]);
    const Halide::Expr first = at[axis] * as_int(w.strides[k]) - as_int(w.before[k]);
    const int from = padded ? -as_int(w.before[k]) : 0,
              limit = as_int(data[axis] + (padded ? w.after[k] : 0));
    const Halide::Expr skipped = clamp((from - first + step - 1) / step, 0, size);
    const Halide::Expr reached = clamp((limit - first + step - 1) / step, 0, size);
    count = count * (reached - skipped);
  }
  return max(count, 1);
}

}  // namespace

std::vector<int> layout_axes(const std::string& layout, const std::string& letters) {
  std::vector<int> axes;
  const Layout parsed = *Layout::parse(layout);
  for (const char letter : letters) axes.push_back(parsed.find(letter));
  return axes;
}

void split_padding(const std::vector<int64_t>& padding, size_t n, std::vector<int64_t>* before,
                   std::vector<int64_t>* after) {
  for (size_t k = 0; k < n; ++k) {
    before->push_back(padding[padding.size() == 1 ? 0 : k]);
    after->push_back(padding[padding.size() == 1 ? 0 : padding.size() == n ? k : n + k]);
  }
}

void max_pool_compute(Compute& c, const PoolWindow& w) {
  const Axes i(c.out().rank());
  const Domain r(w.size);
  const Cell cell = cell_of(w, c.in(0).shape(), i.exprs(), r.exprs());
  const Halide::Expr least = lowest(halide_type(c.out().dtype()));
  Halide::Func largest = c.stage("max_pool");
  largest(i.reversed()) = least;
  largest(i.reversed()) = max(largest(i.reversed()), select(cell.inside, c.in(0)(cell.at), least));
  c.result(copy_stage(c, largest));
}

void avg_pool_compute(Compute& c, const PoolWindow& w, bool count_include_pad) {
  const Axes i(c.out().rank());
  const Domain r(w.size);
  const Cell cell = cell_of(w, c.in(0).shape(), i.exprs(), r.exprs());
  const Halide::Type type = sum_type(c.out().dtype());
  Halide::Func sum = c.stage("sum"), pool = c.stage("avg_pool");
  sum(i.reversed()) = cast(type, 0);
  sum(i.reversed()) += select(cell.inside, cast(type, c.in(0)(cell.at)), cast(type, 0));
  const Halide::Expr count = cell_count(w, c.in(0).shape(), i.exprs(), count_include_pad);
  pool(i.reversed()) = cast_to(c.out().dtype(), sum(i.reversed()) / cast(type, count));
  c.result(pool);
}

// Each window gives its gradient to its largest cell, the first one of equals.
void max_pool_grad_compute(Compute& c, const PoolWindow& w) {
  const Tensor &grad = c.in(0), &data = c.in(1);
  const int rank = data.rank();
  const Axes i(rank);
  const Domain r(w.size, "c");
  const Cell cell = cell_of(w, data.shape(), i.exprs(), r.exprs());
  const Halide::Type type = halide_type(data.dtype());
  Halide::Expr number = 0;  // of the cell, row-major
  for (size_t k = 0; k < w.size.size(); ++k) number = number * as_int(w.size[k]) + r[static_cast<int>(k)];
  Halide::Func best = c.stage("best");
  best(i.reversed()) = Halide::Tuple(Halide::Expr(0), lowest(type));
  const Halide::Expr old = best(i.reversed())[1], value = select(cell.inside, data(cell.at), lowest(type));
  best(i.reversed()) = Halide::Tuple(select(value > old, number, best(i.reversed())[0]), max(value, old));

  // The windows of one image and channel are visited in order; images and channels stay pure.
  std::vector<int64_t> windows;
  for (const int axis : w.axes) windows.push_back(grad.extent(axis));
  const Domain q(windows, "w");
  Index window = i.exprs();
  for (size_t k = 0; k < w.axes.size(); ++k) window[w.axes[k]] = q[static_cast<int>(k)];
  Halide::Expr chosen = best(reversed(window))[0];
  Index cells(w.size.size());
  for (size_t k = w.size.size(); k-- > 0; chosen = chosen / as_int(w.size[k]))
    cells[k] = chosen % as_int(w.size[k]);
  const Index to = cell_of(w, data.shape(), window, cells).at;
  Halide::Func result = c.stage("max_pool_grad");
  result(i.reversed()) = cast(type, 0);
  result(reversed(to)) += cast(type, grad(window));
  c.result(result);
}

void avg_pool_grad_compute(Compute& c, const PoolWindow& w, bool count_include_pad) {
  const Tensor &grad = c.in(0), &data = c.in(1);
  const Axes i(data.rank());
  std::vector<int64_t> extents;
  for (const int axis : w.axes) extents.push_back(grad.extent(axis));
  extents.insert(extents.end(), w.size.begin(), w.size.end());
  Domain r(extents);
  Index window = i.exprs(), cells;
  for (size_t k = 0; k < w.axes.size(); ++k) {
    window[w.axes[k]] = r[static_cast<int>(k)];
    cells.push_back(r[static_cast<int>(w.axes.size() + k)]);
  }
  const Cell cell = cell_of(w, data.shape(), window, cells);
  r.where(cell.inside);
  const Halide::Type type = halide_type(data.dtype());
  const Halide::Expr count = cell_count(w, data.shape(), window, count_include_pad);
  Halide::Func result = c.stage("avg_pool_grad");
  result(i.reversed()) = cast(type, 0);
  result(reversed(cell.at)) += cast(type, grad(window)) / cast(type, count);
  c.result(result);
}

void adaptive_pool_compute(Compute& c, const std::vector<int>& axes, bool mean) {
  const Tensor& data = c.in(0);
  const Axes i(data.rank());
  const std::vector<int64_t> out = c.out().extents();
  std::vector<int64_t> largest;  // parts
  for (const int axis : axes)
    largest.push_back((data.extent(axis) + out[axis] - 1) / out[axis] + (data.extent(axis) % out[axis] != 0));
  const Domain r(largest);
  Index at = i.exprs();
  Halide::Expr inside = Halide::Internal::const_true(), count = 1;
  for (size_t k = 0; k < axes.size(); ++k) {
    const int axis = axes[k], from = as_int(data.extent(axis)), to = as_int(out[axis]);
    const Halide::Expr first = i[axis] * from / to, end = ((i[axis] + 1) * from + to - 1) / to;
    const Halide::Expr position = first + r[static_cast<int>(k)];
    inside = inside && position < end;
    count = count * (end - first);
    at[axis] = inside_axis(position, from);
  }
  const Halide::Type type = mean ? sum_type(c.out().dtype()) : halide_type(c.out().dtype());
  const Halide::Expr start = mean ? cast(type, 0) : lowest(type),
                     value = select(inside, cast(type, data(at)), start);
  Halide::Func pooled = c.stage(mean ? "sum" : "max"), result = c.stage("adaptive_pool");
  pooled(i.reversed()) = start;
  pooled(i.reversed()) = mean ? pooled(i.reversed()) + value : max(pooled(i.reversed()), value);
  const Halide::Expr folded = pooled(i.reversed());
  result(i.reversed()) = cast_to(c.out().dtype(), mean ? folded / cast(type, count) : folded);
  c.result(result);
}

}  // namespace baton
