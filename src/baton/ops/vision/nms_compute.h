#pragma once
// Non-maximum suppression as Halide Funcs.
#include <functional>

#include "baton/ops/compute_util.h"

namespace baton {

/// Intersection over union of two boxes, 0 for empty boxes. A box is two opposite corners.
struct Box {
  Halide::Expr x0, y0, x1, y1;
};
/// `border` is added to widths and heights: 1 where corners are whole pixels.
Halide::Expr overlap(const Box& a, const Box& b, float border = 0);

/// Suppresses boxes of several lists, sorted best first. Halide arguments are (box, lists from the
/// innermost).
struct Suppression {
  std::vector<int64_t> lists;  ///< extents of the axes that index lists, in Relay order
  int64_t boxes = 0;           ///< in each list
  /// Whether box `n` of a list is valid.
  std::function<Halide::Expr(const Index& list, const Halide::Expr& n)> present;
  /// Whether box `better`, if kept, suppresses the later box `n`.
  std::function<Halide::Expr(const Index& list, const Halide::Expr& better, const Halide::Expr& n)>
      suppresses;
  Halide::Expr most;  ///< maximum number kept per list; negative: unlimited
};

struct Kept {
  Halide::Func kept;   ///< 1 or 0
  Halide::Func count;  ///< number kept up to and including this one
};
Kept suppress(Compute& c, const Suppression& suppression);

}  // namespace baton
