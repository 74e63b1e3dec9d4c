#pragma once
// Kernels with symbolic extents and several schedules: which one is used at which extents. Needs Halide.h:
// for .cc files of codegen only.
#include <map>
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

/// The numbers that the schedule of `kernel` was chosen by, with shorter ones of `usual` for the extents that
/// it needs to be long, until the schedule that is chosen by these needs less.
std::vector<int64_t> shorter_extents(const LoweredKernel& kernel, const UsualExtents& usual);

/// Halide reads extents and strides that are no constants from the buffers of a call. Those of a kernel's
/// operands follow from its extents, and its axes may be other ones than the caller's (join_axes.h): a custom
/// lowering pass.
class ShapesByExtents final : public Halide::Internal::IRMutator {
 public:
  explicit ShapesByExtents(const LoweredKernel& kernel);

 private:
  using IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::Call* node) override;
  std::map<std::string, std::vector<Dim>> dims_;  ///< by buffer, in Relay order
};

/// Conditions that follow from what a schedule takes for granted are decided: a custom lowering pass.
class GrantedExtents final : public Halide::Internal::IRMutator {
 public:
  explicit GrantedExtents(const LoweredKernel& kernel);
  Halide::Internal::Stmt mutate(const Halide::Internal::Stmt& stmt) override;
  using IRMutator::mutate;

 private:
  Halide::Internal::Scope<Halide::Internal::Interval> bounds_;
};

/// A function of a kernel's module, and when it is called.
struct CaseFunction {
  std::string name;  ///< empty: nothing is computed
  CaseCondition condition;
};
/// The kernel's function `symbol`, which calls the first of `cases` whose condition holds. All take the
/// arguments of `kernel`: input buffers, extents, output buffers. The last condition holds always.
Halide::Internal::LoweredFunc dispatch(const std::string& symbol, const LoweredKernel& kernel,
                                       const std::vector<CaseFunction>& cases);

}  // namespace baton
