#pragma once
// What is computed step by step along an axis of time, each step from the state that the one before left.
#include <functional>
#include <vector>

#include "baton/frontend/onnx/conversion.h"

namespace baton::onnx {

struct TimeStep {
  Expr output;
  std::vector<Expr> state;  ///< of the same types as before the step
};

/// `time`: an int32 scalar, the place along the axis.
using StepRule = std::function<TimeStep(const Expr& time, const std::vector<Expr>& state)>;

/// Runs `step` for every place along the first axis of `timed`, from the end on if `backward`. The result's
/// output has all outputs along a new first axis; its state is that after the last step. Few steps of a known
/// number become calls one after the other, others a function that calls itself.
TimeStep over_time(const Conversion& c, const Expr& timed, bool backward, std::vector<Expr> state,
                   const StepRule& step);

/// Longer ones are loops.
inline constexpr int64_t kMostUnrolled = 64;

}  // namespace baton::onnx
