#pragma once
// Where along a loop conditions on indices become constant. For .cc files of schedule only.
#include <set>
#include <string>
#include <vector>

#include <Halide.h>

#include "baton/ir/extent.h"

namespace baton {

/// A loop over a dimension of a Func, with constant bounds, or from 0 to a symbolic extent.
struct LoopRange {
  std::string name;
  int min, extent;   ///< of a symbolic extent, as it is usually
  Dim symbolic = 0;  ///< 0: bounds are constant
  bool is_symbolic() const { return symbolic.is_symbolic(); }
  int end() const { return min + extent; }
};
/// Whether `func`, or what it reads, selects by conditions on indices.
bool has_conditions(const Halide::Func& func);

struct LoopCuts {
  std::set<int> at;
  int decided = 0;  ///< conditions that are constant between neighbouring cuts
};
/// One per loop: the cuts by the conditions in `value`, each a comparison of linear expressions of loops with
/// constant bounds.
std::vector<LoopCuts> condition_cuts(const Halide::Expr& value, const std::vector<LoopRange>& loops);

}  // namespace baton
