#pragma once
// Loops of reductions and scatters in Relay order.
#include <algorithm>

#include "baton/ops/compute_util.h"

namespace baton {

/// A domain over `extents`, outermost axis first: the last one is the innermost loop. Without extents it is
/// one point.
class Domain {
 public:
  explicit Domain(const std::vector<int64_t>& extents, const std::string& name = "r")
      : rank_(static_cast<int>(extents.size())) {
    std::vector<Halide::Range> ranges;
    for (auto extent = extents.rbegin(); extent != extents.rend(); ++extent)
      ranges.emplace_back(0, as_int(*extent));
    if (ranges.empty()) ranges.emplace_back(0, 1);
    rdom_ = Halide::RDom(ranges, name);
  }
  int rank() const { return rank_; }
  Halide::RVar operator[](int axis) const { return rdom_[rank_ - 1 - axis]; }
  Index exprs() const {
    Index all;
    for (int axis = 0; axis < rank_; ++axis) all.push_back((*this)[axis]);
    return all;
  }
  /// Excludes the points where `condition` is false.
  void where(const Halide::Expr& condition) { rdom_.where(condition); }

 private:
  Halide::RDom rdom_;
  int rank_;
};

/// An index in Relay order as the arguments of a Func.
inline Index reversed(const Index& index) { return {index.rbegin(), index.rend()}; }

/// `axis` normalized to be non-negative.
inline int from_front(int64_t axis, int rank) { return static_cast<int>(axis < 0 ? axis + rank : axis); }

/// A computed position clamped to an axis: kernels never access memory out of bounds.
inline Halide::Expr inside_axis(const Halide::Expr& at, int64_t extent) {
  return clamp(Halide::cast<int>(at), 0, as_int(std::max<int64_t>(extent, 1) - 1));
}

}  // namespace baton
