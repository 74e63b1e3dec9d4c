#pragma once
// Kernels with symbolic extents and several schedules: which one is used at which extents. Needs Halide.h:
// for .cc files of codegen only.
#include <string>
#include <vector>

#include <Halide.h>

#include "baton/codegen/kernel/lower.h"

namespace baton {

/// The extents that a schedule is for.
struct CaseCondition {
  std::vector<Dim> zero;           ///< these are 0
  std::vector<LeastExtent> least;  ///< and these at least so long

  bool holds_always() const { return zero.empty() && least.empty(); }
  /// "extent0 == 0 && extent1 >= 14"; empty where it holds always.
  std::string text() const;
  Halide::Expr expr() const;
};

/// `usual`, the numbers that a schedule was chosen by, with shorter ones for the extents of `missed`, until
/// the schedule that is chosen by these needs less.
std::vector<int64_t> shorter_extents(const LoweredKernel& kernel, const std::vector<LeastExtent>& missed);

/// A function of a kernel's module, and when it is called.
struct CaseFunction {
  std::string name;
  CaseCondition condition;
};
/// The kernel's function `symbol`, which calls the first of `cases` whose condition holds. All take the
/// arguments of `kernel`: input buffers, extents, output buffers. The last condition holds always.
Halide::Internal::LoweredFunc dispatch(const std::string& symbol, const LoweredKernel& kernel,
                                       const std::vector<CaseFunction>& cases);

}  // namespace baton
