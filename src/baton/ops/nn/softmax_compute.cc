#include "baton/ops/nn/softmax_compute.h"

#include "baton/ops/compute_util.h"

namespace baton {

namespace {

// The axes of the result and what reductions along one of them need.
struct Rows {
  Rows(const Compute& c, int64_t axis_attr)
      : i(c.out().rank()),
        axis(static_cast<int>(axis_attr < 0 ? axis_attr + i.rank() : axis_attr)),
        r(0, as_int(c.in(0).extent(axis)), "r"),
        type(sum_type(c.out().dtype())) {
    along = i.exprs();
    along[axis] = r.x;
    for (int k = i.rank(); k-- > 0;)
      if (k != axis) rest.push_back(i[k]);
  }
  Axes i;
  int axis;
  Halide::RDom r;
  Halide::Type type;
  Index along;                    // the element r.x of the row of `i`
  std::vector<Halide::Var> rest;  // i without `axis`, in Halide order
};

Halide::Func row_max(Compute& c, const Rows& rows) {
  Halide::Func largest = c.stage("max");
  largest(rows.rest) = lowest(rows.type);
  largest(rows.rest) = max(largest(rows.rest), cast(rows.type, c.in(0)(rows.along)));
  return largest;
}

}  // namespace

void softmax_compute(Compute& c, const SoftmaxAttrs& attrs) {
  const Rows rows(c, attrs.axis);
  const Halide::Func largest = row_max(c, rows);
  Halide::Func e = c.stage("exp"), total = c.stage("sum"), softmax = c.stage("softmax");
  e(rows.i.reversed()) = exp(cast(rows.type, c.in(0)(rows.i.exprs())) - largest(rows.rest));
  total(rows.rest) = cast(rows.type, 0);
  total(rows.rest) += e(Index(rows.along.rbegin(), rows.along.rend()));
  softmax(rows.i.reversed()) = cast_to(c.out().dtype(), e(rows.i.reversed()) / total(rows.rest));
  c.result(softmax);
}

void log_softmax_compute(Compute& c, const SoftmaxAttrs& attrs) {
  const Rows rows(c, attrs.axis);
  const Halide::Func largest = row_max(c, rows);
  Halide::Func total = c.stage("sum"), result = c.stage("log_softmax");
  total(rows.rest) = cast(rows.type, 0);
  total(rows.rest) += exp(cast(rows.type, c.in(0)(rows.along)) - largest(rows.rest));
  result(rows.i.reversed()) = cast_to(
      c.out().dtype(), cast(rows.type, c.in(0)(rows.i.exprs())) - largest(rows.rest) - log(total(rows.rest)));
  c.result(result);
}

}  // namespace baton
