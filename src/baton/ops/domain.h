#pragma once
// Loops of reductions and scatters in Relay order.
#include <algorithm>
#include <concepts>

#include "baton/ops/compute_util.h"

namespace baton {

/// A domain over `extents`, outermost axis first: the last one is the innermost loop. Without extents it is
/// one point.
class Domain {
 public:
  explicit Domain(const std::vector<Dim>& extents, const std::string& name = "r")
      : rank_(static_cast<int>(extents.size())) {
    std::vector<Halide::Range> ranges;
    for (auto extent = extents.rbegin(); extent != extents.rend(); ++extent)
      ranges.emplace_back(0, as_expr(*extent));
    if (ranges.empty()) ranges.emplace_back(0, 1);
    rdom_ = Halide::RDom(ranges, name);
  }
  template <std::same_as<int64_t> Number>
  explicit Domain(const std::vector<Number>& extents, const std::string& name = "r")
      : Domain(std::vector<Dim>(extents.begin(), extents.end()), name) {}
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
inline Halide::Expr inside_axis(const Halide::Expr& at, Dim extent) {
  const Halide::Expr last =
      extent.is_symbolic() ? max(as_expr(extent), 1) - 1 : as_expr(std::max<int64_t>(extent.value(), 1) - 1);
  return clamp(Halide::cast<int>(at), 0, last);
}

}  // namespace baton
