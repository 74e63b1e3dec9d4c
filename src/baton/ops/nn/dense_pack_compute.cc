#include "baton/ops/nn/dense_pack_compute.h"

#include "baton/ops/compute_util.h"

namespace baton {

void dense_pack_compute(Compute& c, const DensePackAttrs&) {
  const Tensor &data = c.in(0), &weight = c.in(1);
  const int block = as_int(weight.extent(2));
  const Halide::Type type = halide_type(c.out().dtype());
  const Halide::RDom r(0, as_int(weight.extent(1)), "r");
  const Halide::Var o("o"), ob("ob"), x("x"), y("y");
  // Blocks are an axis of their own, so that schedules need not undo a division.
  Halide::Func dense = c.stage("dense"), out = c.stage("out");
  dense(o, ob, y) = cast(type, 0);
  dense(o, ob, y) += cast(type, weight(ob, r.x, o)) * cast(type, data(y, r.x));
  out(x, y) = dense(x % block, x / block, y);
  c.result(out);
}

}  // namespace baton
