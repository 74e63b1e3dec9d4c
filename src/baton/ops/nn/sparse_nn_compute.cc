#include "baton/ops/nn/sparse_nn_compute.h"

#include <functional>

#include "baton/ops/domain.h"
#include "baton/ops/shared/sort_compute.h"

namespace baton {

namespace {

// row_of(e): the row of the e-th value (or block). Rows are counted up where they start.
Halide::Func row_of_values(Compute& c, const Tensor& starts, int64_t count) {
  const Halide::Var e("e");
  const int rows = as_int(starts.extent(0) - 1);
  Halide::Func row = c.stage("row_of");
  row(e) = 0;
  if (rows > 1) {
    Halide::RDom r(1, rows - 1, "b");
    const Halide::Expr at = Halide::cast<int>(starts(Index{r}));
    r.where(at >= 0 && at < as_int(count));
    row(inside_axis(at, count)) += 1;
  }
  if (count > 1) {
    const Halide::RDom later(1, as_int(count - 1), "s");
    row(later) += row(later - 1);
  }
  return row;
}

// Values that no row holds lie behind the last start.
Halide::Expr held(const Tensor& starts, const Halide::Expr& e) {
  return e < Halide::cast<int>(starts(Index{as_int(starts.extent(0) - 1)}));
}

// result(at of (sparse row), others) += value * dense(at column), for all values. `to` gives the result's
// index in Relay order from a row; `from` that of the dense operand from a column.
void multiply_rows(Compute& c, const char* name, const Axes& i,
                   const std::function<Index(const Halide::Expr&)>& to,
                   const std::function<Index(const Halide::Expr&)>& from, int64_t rows, int64_t columns) {
  const Tensor &dense = c.in(0), &values = c.in(1), &places = c.in(2), &starts = c.in(3);
  const Halide::Type type = sum_type(c.out().dtype());
  const bool blocks = values.rank() == 3;
  const int64_t count = values.extent(0), high = blocks ? values.extent(1) : 1,
                wide = blocks ? values.extent(2) : 1;
  const Halide::Func row_of = row_of_values(c, starts, count);
  Domain r({count, high, wide});
  r.where(held(starts, r[0]));
  const Halide::Expr row = row_of(r[0]) * as_int(high) + r[1],
                     column = Halide::cast<int>(places(Index{r[0]})) * as_int(wide) + r[2];
  const Halide::Expr value = blocks ? values(Index{r[0], r[1], r[2]}) : values(Index{r[0]});
  Halide::Func sum = c.stage(name);
  sum(i.reversed()) = cast(type, 0);
  sum(reversed(to(inside_axis(row, rows)))) +=
      cast(type, value) * cast(type, dense(from(inside_axis(column, columns))));
  Halide::Func out = c.stage("out");
  out(i.reversed()) = cast_to(c.out().dtype(), sum(i.reversed()));
  c.result(out);
}

}  // namespace

void sparse_dense_compute(Compute& c, bool sparse_lhs) {
  const Axes i(2);
  const int row_axis = sparse_lhs ? 0 : 1;
  auto to = [&](const Halide::Expr& row) {
    Index at = i.exprs();
    at[row_axis] = row;
    return at;
  };
  auto from = [&](const Halide::Expr& column) { return Index{i[1 - row_axis], column}; };
  multiply_rows(c, "sparse_dense", i, to, from, c.out().extents()[row_axis], c.in(0).extent(1));
}

void sparse_conv2d_compute(Compute& c, bool channels_last) {
  const Axes i(4);
  const int axis = channels_last ? 3 : 1;
  auto at = [&](const Halide::Expr& channel) {
    Index index = i.exprs();
    index[axis] = channel;
    return index;
  };
  multiply_rows(c, "sparse_conv2d", i, at, at, c.out().extents()[axis], c.in(0).extent(axis));
}

void sparse_add_compute(Compute& c) {
  const Tensor &dense = c.in(0), &values = c.in(1), &places = c.in(2), &starts = c.in(3);
  const Axes i(2);
  const Halide::Func row_of = row_of_values(c, starts, values.extent(0));
  Domain r(values.shape());
  r.where(held(starts, r[0]));
  Halide::Func sum = c.stage("sparse_add");
  sum(i.reversed()) = dense(i.exprs());
  sum(inside_axis(places(Index{r[0]}), dense.extent(1)), inside_axis(row_of(r[0]), dense.extent(0))) +=
      values(Index{r[0]});
  c.result(sum);
}

// Sorted by column the values stand as in the transpose, since the sort keeps the order of rows.
void sparse_transpose_compute(Compute& c) {
  const Tensor &values = c.in(0), &places = c.in(1), &starts = c.in(2);
  const int count = as_int(values.extent(0)), rows = as_int(starts.extent(0) - 1);
  const Halide::Var e("e"), k("k");
  const Halide::Func row_of = row_of_values(c, starts, count), sorted = sorted_pairs(c, places, 0, true);
  Halide::Func data = c.stage("data"), indices = c.stage("indices"), ends = c.stage("indptr");
  const Halide::Expr from = inside_axis(sorted(e)[1], count);
  data(e) = values(Index{from});
  indices(e) = cast_to(c.out(1).dtype(), row_of(from));
  const Halide::Type type = halide_type(c.out(2).dtype());
  ends(k) = cast(type, 0);
  if (count > 0) {
    const Halide::RDom r(0, count, "r");
    ends(inside_axis(Halide::cast<int>(places(Index{r})) + 1, rows + 1)) += cast(type, 1);
  }
  if (rows > 0) {
    const Halide::RDom later(1, rows, "s");
    ends(later) += ends(later - 1);
  }
  c.results({data, indices, ends});
}

}  // namespace baton
