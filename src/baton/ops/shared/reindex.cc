#include "baton/ops/shared/reindex.h"

namespace baton {

namespace {

// Axes of equal products on both sides are matched in groups, so that an index needs the fewest divisions:
// (2, 3, 4) -> (6, 4) only merges the first two axes.
Index reshape_index(const std::vector<int64_t>& from, const std::vector<int64_t>& to, const Index& index) {
  Index result(from.size(), 0);
  size_t f = 0, t = 0;
  while (f < from.size() || t < to.size()) {
    size_t f_end = f, t_end = t;
    int64_t f_size = f_end < from.size() ? from[f_end++] : 1;
    int64_t t_size = t_end < to.size() ? to[t_end++] : 1;
    while (f_size != t_size && (f_end < from.size() || t_end < to.size())) {
      if ((f_size < t_size && f_end < from.size()) || t_end == to.size())
        f_size *= from[f_end++];
      else
        t_size *= to[t_end++];
    }
    Halide::Expr flat;
    for (size_t axis = t; axis < t_end; ++axis)
      flat = flat.defined() ? flat * as_int(to[axis]) + index[axis] : index[axis];
    int64_t below = 1;
    for (size_t axis = f_end; axis-- > f;) {
      if (!flat.defined() || from[axis] == 1)
        result[axis] = 0;
      else if (below * from[axis] == f_size)
        result[axis] = below == 1 ? flat : flat / as_int(below);
      else
        result[axis] = (below == 1 ? flat : flat / as_int(below)) % as_int(from[axis]);
      below *= from[axis];
    }
    f = f_end;
    t = t_end;
  }
  return result;
}

}  // namespace

void reshape_compute(Compute& c, const std::string& stage) {
  const std::vector<int64_t> to = c.out().extents();
  reindex_compute(c, stage, [&](const Index& i) { return reshape_index(c.in(0).shape(), to, i); });
}

}  // namespace baton
