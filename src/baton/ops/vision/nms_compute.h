#pragma once
// Non-maximum suppression as Halide Funcs.
#include <functional>

#include "baton/ops/compute_util.h"

namespace baton {

/// How much two boxes have in common: intersection over union, 0 for boxes without extent. A box is two
/// opposite corners.
struct Box {
  Halide::Expr x0, y0, x1, y1;
};
/// `border` is added to widths and heights: 1 where corners are whole pixels.
Halide::Expr overlap(const Box& a, const Box& b, float border = 0);

/// Boxes of some lists, best first: which of them are kept. Halide arguments are (box, lists from the
/// innermost).
struct Suppression {
  std::vector<int64_t> lists;  ///< the extents of the axes that number lists, in Relay order
  int64_t boxes = 0;           ///< in each list
  /// Whether box `n` of a list is there at all.
  std::function<Halide::Expr(const Index& list, const Halide::Expr& n)> present;
  /// Whether box `better`, if it is kept, suppresses the later box `n`.
  std::function<Halide::Expr(const Index& list, const Halide::Expr& better, const Halide::Expr& n)>
      suppresses;
  Halide::Expr most;  ///< so many are kept at most in a list; negative: all
};

struct Kept {
  Halide::Func kept;   ///< 1 or 0
  Halide::Func count;  ///< how many are kept up to this one, itself included
};
Kept suppress(Compute& c, const Suppression& suppression);

}  // namespace baton
