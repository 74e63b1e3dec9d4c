#include "baton/ops/shared/reindex.h"

namespace baton {

namespace {

// Which of two products of neighbouring axes takes in the next axis. Symbolic ones are compared at one long
// length, so that n * m is longer than n.
bool is_shorter(Dim a, Dim b) {
  constexpr int64_t kLength = 10007;
  const auto at_length = [](Dim dim) { return extent_at(dim, [](Dim) { return kLength; }); };
  return at_length(a).value() < at_length(b).value();
}

// Axes of equal products on both sides are matched in groups, so that an index needs the fewest divisions:
// (2, 3, 4) -> (6, 4) only merges the first two axes.
Index reshape_index(const std::vector<Dim>& from, const std::vector<Dim>& to, const Index& index) {
  Index result(from.size(), 0);
  size_t f = 0, t = 0;
  while (f < from.size() || t < to.size()) {
    size_t f_end = f, t_end = t;
    Dim f_size = f_end < from.size() ? from[f_end++] : 1;
    Dim t_size = t_end < to.size() ? to[t_end++] : 1;
    while (f_size != t_size && (f_end < from.size() || t_end < to.size())) {
      if ((is_shorter(f_size, t_size) && f_end < from.size()) || t_end == to.size())
        f_size = f_size * from[f_end++];
      else
        t_size = t_size * to[t_end++];
    }
    Halide::Expr flat;
    for (size_t axis = t; axis < t_end; ++axis)
      flat = flat.defined() ? flat * as_expr(to[axis]) + index[axis] : index[axis];
    Dim below = 1;
    for (size_t axis = f_end; axis-- > f;) {
      if (!flat.defined() || from[axis] == 1)
        result[axis] = 0;
      else if (below * from[axis] == f_size)
        result[axis] = below == 1 ? flat : flat / as_expr(below);
      else
        result[axis] = (below == 1 ? flat : flat / as_expr(below)) % as_expr(from[axis]);
      below = below * from[axis];
    }
    f = f_end;
    t = t_end;
  }
  return result;
}

}  // namespace

void reshape_compute(Compute& c, const std::string& stage) {
  reindex_compute(c, stage,
                  [&](const Index& i) { return reshape_index(c.in(0).dims(), c.out().shape(), i); });
}

}  // namespace baton
