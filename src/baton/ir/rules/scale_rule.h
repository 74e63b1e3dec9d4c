#pragma once
// How a factor per channel (multiply(x, s), s a vector along one axis of x) moves through an operator.
// Attached to operators through OpDef::rules, read by FoldScaleAxis; common rules are in
// ops/rules/scale_rules.h.
#include <functional>
#include <optional>
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

/// What a tensor can take: a factor along `axis`.
struct ScaleAxis {
  int axis = 0;
  bool need_positive = false;  ///< the factor must be positive (it crosses a relu)
  bool need_nonzero = false;   ///< something is divided by the factor
};

/// What happens to one input when the factor moves.
struct ScaleStep {
  enum class What {
    kKeep,
    kPass,      ///< backward only: the factor goes on to this input, which takes it
    kMultiply,  ///< the input is multiplied by the factor: the factor ends here
    kDivide,
  };
  What what = What::kKeep;
  int axis = 0;  ///< where the factor lies in this input
};

struct ScalePlan {
  ScaleAxis takes;  ///< backward: the factor on the result; forward: the factor on the input asked for
  std::vector<ScaleStep> inputs;  ///< one per argument
  bool passes_on = false;         ///< forward only: the result carries the factor on, along `takes.axis`
};

struct ScaleRule {
  using Takes = std::optional<ScaleAxis>;
  /// f(x) * s = f'(x'): what the result can take, when the arguments can take `inputs`. `call` is typed.
  std::function<std::optional<ScalePlan>(const CallNode& call, const std::vector<Takes>& inputs)> backward;
  /// f(x * s): what argument `index` can take, when the result's users take `result`.
  std::function<std::optional<ScalePlan>(const CallNode& call, int index, const Takes& result)> forward;
};

/// Whether `type` broadcasts to `full` as a vector along `axis` of `full` (all its other extents are 1).
/// The vector's axis in `type`, or nothing.
std::optional<int> vector_axis(const TensorTypeNode& type, const TensorTypeNode& full, int axis);

}  // namespace baton
