#pragma once
// The precision of an operator in ToMixedPrecision. Attached through OpDef::rules.
#include <functional>
#include <optional>
#include <string>

#include "baton/ir/expr.h"

namespace baton {

/// The values are those used by Python's registration.
enum class MixedPrecision {
  /// Sums of products, faster in the smaller type: inputs are cast to it.
  kAlways = 0,
  /// Data movement, comparisons and elementwise operators, not worth a cast in either direction: computed in
  /// the smaller type when the inputs already have it or can be cast for free.
  kFollow = 1,
  /// Results that overflow small types (exp, power), long sums, and values that need full precision: inputs
  /// are cast to float32.
  kNever = 2,
};

struct MixedPrecisionRule {
  MixedPrecision colour = MixedPrecision::kFollow;
  DType accumulates;  ///< the accumulation type: its `out_dtype`
  DType result;       ///< the type its result is cast to
};

/// Called for each call; `type` is the smaller type.
using MixedPrecisionFunction = std::function<MixedPrecisionRule(const Expr& call, DType type)>;

/// Overrides the rule of operator `op` from now on. Built-in rules have level 10; a level below the current
/// one has no effect. UsageError for an equal level, and for an unknown operator.
void register_mixed_precision(const std::string& op, MixedPrecisionFunction rule, int level = 10);
/// The rule in effect for `call`; nullopt when its operator has none.
std::optional<MixedPrecisionRule> mixed_precision_of(const CallNode& call, DType type);

}  // namespace baton
