#pragma once
// How a per-channel scale (multiply(x, s), s a vector along one axis of x) moves through an operator.
// Attached through OpDef::rules, read by FoldScaleAxis; common rules are in ops/rules/scale_rules.h.
#include <functional>
#include <optional>
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

/// A scale that a tensor can absorb: along `axis`, and in a blocked layout (NCHW4c) also along `block`.
struct ScaleAxis {
  int axis = 0;
  bool need_positive = false;  ///< the factor must be positive (it crosses a relu)
  bool need_nonzero = false;   ///< the scale is used as a divisor
  int block = -1;              ///< the axis of the channels in a block; -1: not blocked

  bool same_place(const ScaleAxis& other) const { return axis == other.axis && block == other.block; }
};

/// The effect on one input when the scale moves.
struct ScaleStep {
  enum class What {
    kKeep,
    kPass,      ///< backward only: the scale is propagated to this input, which can absorb it
    kMultiply,  ///< the input is multiplied by the scale, which ends here
    kDivide,
  };
  What what = What::kKeep;
  int axis = 0;    ///< the axis of the scale in this input
  int block = -1;  ///< as in ScaleAxis
};

struct ScalePlan {
  ScaleAxis takes;  ///< backward: the scale of the result; forward: the scale of the queried input
  std::vector<ScaleStep> inputs;  ///< one per argument
  bool passes_on = false;         ///< forward only: the scale propagates to the result, along `takes.axis`
};

struct ScaleRule {
  using Takes = std::optional<ScaleAxis>;
  /// f(x) * s = f'(x'): the scale that the result can absorb, given what the arguments can absorb (`inputs`).
  /// `call` is typed.
  std::function<std::optional<ScalePlan>(const CallNode& call, const std::vector<Takes>& inputs)> backward;
  /// f(x * s): the scale that argument `index` can absorb, given what the users of the result can absorb
  /// (`result`).
  std::function<std::optional<ScalePlan>(const CallNode& call, int index, const Takes& result)> forward;
};

/// Whether `type` broadcasts to `full` as a vector along `axis` of `full`, or a matrix along `axis` and
/// `block` (its other extents are 1). Returns the vector's axis in `type`, or nullopt.
std::optional<int> vector_axis(const TensorTypeNode& type, const TensorTypeNode& full, int axis,
                               int block = -1);

}  // namespace baton
