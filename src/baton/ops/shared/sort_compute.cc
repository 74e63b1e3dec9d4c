#include "baton/ops/shared/sort_compute.h"

#include <bit>

#include "baton/ops/domain.h"

namespace baton {

namespace {

struct Network {
  Halide::Expr n, width, levels, steps;
};

Network network_of(Dim extent) {
  if (extent.is_symbolic()) {
    const Halide::Expr n = as_expr(extent), last = max(n, 1) - 1, levels = 32 - count_leading_zeros(last);
    return {n, Halide::Expr(1) << levels, levels, levels * (levels + 1) / 2};
  }
  const int n = as_int(extent.value());
  const int width = static_cast<int>(std::bit_ceil(static_cast<uint32_t>(std::max(n, 1))));
  const int levels = std::countr_zero(static_cast<uint32_t>(width));
  return {n, width, levels, levels * (levels + 1) / 2};
}

}  // namespace

// A bitonic network: its comparisons are data-independent, so that all other axes stay pure (vectors,
// threads). Level s makes sorted blocks of 2 << s elements in alternating order; its step k compares elements
// at distance 1 << (s - k). The two halves of `f` along its outermost dimension are double buffers: a step
// reads one and writes the other. Ties are broken by position, which makes the sort stable. The axis is
// padded to a power of two with positions that sort last.
Halide::Func sorted_pairs(Compute& c, const Halide::Func& values, const std::vector<Dim>& shape, int axis,
                          bool ascending) {
  using Halide::Expr;
  const int rank = static_cast<int>(shape.size()), dim = rank - 1 - axis;
  const auto [n, width, levels, steps] = network_of(shape[axis]);

  const Axes i(rank);
  const Halide::Var half("half");
  std::vector<Halide::Var> args = i.reversed();
  std::vector<Expr> at(args.begin(), args.end());
  at[dim] = clamp(at[dim], 0, simplify(max(n, 1)) - 1);
  args.push_back(half);
  Halide::Func f = c.stage("network");
  f(args) = Halide::Tuple(values(at), Expr(i[axis]));
  Halide::Func sorted = c.stage("sorted");
  const std::vector<Halide::Var> out = i.reversed();
  std::vector<Expr> last(out.begin(), out.end());
  last.push_back(steps % 2);
  if (!is_const_zero(steps)) {
    Halide::RDom r(0, width, 0, levels, 0, levels, "r");  // element, k, s
    r.where(r.y <= r.z);
    const Expr e = r.x, s = r.z, k = r.y, step = s * (s + 1) / 2 + k;
    const Expr distance = Expr(1) << (s - k),
               partner = select((e / distance) % 2 == 0, e + distance, e - distance);
    std::vector<Expr> mine(out.begin(), out.end()), other = mine, to = mine;
    mine[dim] = e;
    other[dim] = clamp(partner, 0, width - 1);
    to[dim] = e;
    mine.push_back(step % 2);
    other.push_back(step % 2);
    to.push_back((step + 1) % 2);
    const Expr a = f(mine)[0], pa = f(mine)[1], b = f(other)[0], pb = f(other)[1];
    // Descending, NaN comes first.
    const Expr better = ascending ? sorts_before(a, b) : sorts_before(b, a),
               worse = ascending ? sorts_before(b, a) : sorts_before(a, b);
    // Padding positions sort last, whatever their values.
    const Expr first = select(pa >= n || pb >= n, pa < pb, better || (!worse && pa < pb));
    const Expr forward = ((e >> (s + 1)) & 1) == 0, lower = e < partner;
    const Expr keep = first == (forward == lower);
    f(to) = Halide::Tuple(select(keep, a, b), select(keep, pa, pb));
  }
  sorted(out) = Halide::Tuple(f(last)[0], f(last)[1]);
  return sorted;
}

Halide::Func sorted_pairs(Compute& c, const Tensor& data, int axis, bool ascending) {
  return sorted_pairs(c, data.func(), data.dims(), axis, ascending);
}

}  // namespace baton
