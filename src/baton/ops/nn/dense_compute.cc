#include "baton/ops/nn/dense_compute.h"

#include "baton/ops/compute_util.h"

namespace baton {

void dense_compute(Compute& c, const DenseAttrs&) {
  const Axes i(c.out().rank());
  const Halide::Type type = halide_type(c.out().dtype());
  const Halide::RDom r(0, as_int(c.in(1).extent(1)), "r");
  Index row = i.exprs();
  row.back() = r.x;
  Halide::Func dense = c.stage("dense");
  dense(i.reversed()) = cast(type, 0);
  dense(i.reversed()) += cast(type, c.in(0)(row)) * cast(type, c.in(1)(Index{i[-1], r.x}));
  c.result(copy_stage(c, dense));
}

}  // namespace baton
