#include "baton/ops/nn/batch_matmul_compute.h"

#include "baton/ops/compute_util.h"

namespace baton {

void batch_matmul_compute(Compute& c, const BatchMatmulAttrs& attrs) {
  const Tensor &a = c.in(0), &b = c.in(1);
  const Axes i(3);
  const Halide::Type type = halide_type(c.out().dtype());
  const Halide::RDom r(0, as_int(a.extent(attrs.transpose_a ? 1 : 2)), "r");
  const Halide::Expr batch_a = a.extent(0) == 1 ? Halide::Expr(0) : i[0],
                     batch_b = b.extent(0) == 1 ? Halide::Expr(0) : i[0];
  const Index left = attrs.transpose_a ? Index{batch_a, r.x, i[1]} : Index{batch_a, i[1], r.x};
  const Index right = attrs.transpose_b ? Index{batch_b, i[2], r.x} : Index{batch_b, r.x, i[2]};
  Halide::Func product = c.stage("batch_matmul");
  product(i.reversed()) = cast(type, 0);
  product(i.reversed()) += cast(type, a(left)) * cast(type, b(right));
  c.result(product);
}

}  // namespace baton
