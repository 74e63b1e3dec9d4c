#include "baton/ops/tensor/sparse_compute.h"

#include <algorithm>

namespace baton {

void sparse_to_dense_compute(Compute& c) {
  const Tensor &indices = c.in(0), &values = c.in(1);
  const Axes i(c.out().rank());
  const std::vector<int64_t> out = c.out().extents();
  Domain r({indices.rank() == 0 ? 1 : indices.extent(0)});
  Index to;
  Halide::Expr inside = Halide::Internal::const_true();
  for (int k = 0; k < i.rank(); ++k) {
    const Halide::Expr at = indices.rank() == 0   ? indices(Index{})
                            : indices.rank() == 1 ? indices(Index{r[0]})
                                                  : indices(Index{r[0], k});
    inside = inside && at >= cast(at.type(), 0) && at < cast(at.type(), as_int(out[k]));
    to.push_back(inside_axis(at, out[k]));
  }
  r.where(inside);
  Halide::Func dense = c.stage("sparse_to_dense");
  dense(i.reversed()) = cast_to(c.out().dtype(), c.num_inputs() > 2 ? c.in(2)(Index{}) : Halide::Expr(0));
  dense(reversed(to)) = cast_to(c.out().dtype(), values.rank() == 0 ? values(Index{}) : values(Index{r[0]}));
  c.result(dense);
}

// A value's place is the number of values of the rows before, filled or not, and of those before it in its
// row: the values are taken in the order of their rows.
void sparse_fill_empty_rows_compute(Compute& c) {
  const Tensor &indices = c.in(0), &values = c.in(1);
  const int given = as_int(indices.extent(0)), rank = as_int(indices.extent(1));
  const int count = as_int(c.out(0).extents()[0]), rows = as_int(c.out(2).extents()[0]);
  const Halide::Var n("n"), k("k");
  const Halide::RDom r(0, given, "r");
  auto row_of = [&](const Halide::Expr& at) { return inside_axis(indices(Index{at, 0}), rows); };
  Halide::Func held = c.stage("held"), start = c.stage("start"), before = c.stage("before");
  held(n) = 0;
  held(row_of(r)) += 1;
  start(n) = select(n == 0, 0, max(held(clamp(n - 1, 0, std::max(rows, 1) - 1)), 1));
  if (rows > 1) {
    const Halide::RDom later(1, rows - 1, "s");
    start(later) += start(later - 1);
  }
  before(n) = 0;  // how many values of the same row stand before value n
  if (given > 0) {
    const Halide::RDom earlier(0, given, "e");
    before(n) += select(earlier < n && row_of(earlier) == row_of(clamp(n, 0, given - 1)), 1, 0);
  }
  auto place = [&](const Halide::Expr& at) { return inside_axis(start(row_of(at)) + before(at), count); };

  Halide::Func empty = c.stage("empty"), all_indices = c.stage("indices"), all_values = c.stage("values");
  empty(n) = cast_to(c.out(2).dtype(), select(held(n) == 0, 1, 0));
  const Halide::RDom each(0, rows, "w");
  all_indices(k, n) = cast_to(c.out(0).dtype(), 0);
  // Every row begins with its own number; values then write over that.
  all_indices(k, inside_axis(start(each), count)) =
      cast_to(c.out(0).dtype(), select(k == 0, Halide::Expr(each), 0));
  all_indices(k, place(r)) = cast_to(c.out(0).dtype(), indices(Index{r, clamp(k, 0, rank - 1)}));
  all_values(n) = cast_to(c.out(1).dtype(), c.in(3)(Index(c.in(3).rank(), Halide::Expr(0))));
  all_values(place(r)) = cast_to(c.out(1).dtype(), values(Index{r}));
  c.results({all_indices, all_values, empty});
}

void sparse_reshape_compute(Compute& c) {
  const Tensor &indices = c.in(0), &before = c.in(1), &after = c.in(2);
  const int old_rank = as_int(before.extent(0)), rank = as_int(after.extent(0));
  const Halide::Expr one = Halide::cast<int64_t>(1);
  auto extent = [](const Tensor& shape, int k) { return Halide::cast<int64_t>(shape(Index{k})); };
  Halide::Expr total = one, known = one;
  for (int k = 0; k < old_rank; ++k) total = total * extent(before, k);
  for (int k = 0; k < rank; ++k) known = known * select(extent(after, k) < 0, one, extent(after, k));
  std::vector<Halide::Expr> extents;
  for (int k = 0; k < rank; ++k)
    extents.push_back(select(extent(after, k) < 0, total / known, extent(after, k)));

  const Axes i(2), j(1, "j");
  Halide::Expr flat = Halide::cast<int64_t>(0), moved = Halide::cast<int64_t>(0);
  for (int k = 0; k < old_rank; ++k)
    flat = flat * extent(before, k) + Halide::cast<int64_t>(indices(Index{i[0], k}));
  Halide::Expr shape = Halide::cast<int64_t>(0);
  for (int k = rank; k-- > 0; flat = flat / extents[k]) {
    moved = select(i[1] == k, k == 0 ? flat : flat % extents[k], moved);
    shape = select(j[0] == k, extents[k], shape);
  }
  Halide::Func new_indices = c.stage("indices"), new_shape = c.stage("shape");
  new_indices(i.reversed()) = cast_to(c.out(0).dtype(), moved);
  new_shape(j.reversed()) = cast_to(c.out(1).dtype(), shape);
  c.results({new_indices, new_shape});
}

}  // namespace baton
