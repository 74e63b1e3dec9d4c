#pragma once
// In which precision an operator computes when a program is to use a smaller float type. An operator's block
// carries its MixedPrecision among its rules; read by ToMixedPrecision.
#include <functional>
#include <optional>
#include <string>

#include "baton/ir/expr.h"

namespace baton {

/// The numbers are those that Python registers.
enum class MixedPrecision {
  /// Sums of products, which hardware computes faster in the smaller type: the inputs are cast to it.
  kAlways = 0,
  /// What moves, compares or combines single values, not worth a cast in either direction: computes in the
  /// smaller type when its inputs are there, or can be cast for free.
  kFollow = 1,
  /// Results that leave the range of small types (exp, power), sums of many values, and numbers that need all
  /// their digits: the inputs are cast to float32.
  kNever = 2,
};

struct MixedPrecisionRule {
  MixedPrecision colour = MixedPrecision::kFollow;
  DType accumulates;  ///< the type it sums in: its `out_dtype`
  DType result;       ///< what its result is cast to
};

/// Asked for each call; `type` is the smaller type.
using MixedPrecisionFunction = std::function<MixedPrecisionRule(const Expr& call, DType type)>;

/// Replaces the rule of operator `op` from now on. Those that come with Baton have level 10; a lower level
/// than the one that counts changes nothing. UsageError for the same level, and when there is no such
/// operator.
void register_mixed_precision(const std::string& op, MixedPrecisionFunction rule, int level = 10);
/// What counts for `call`; nothing when its operator has no rule.
std::optional<MixedPrecisionRule> mixed_precision_of(const CallNode& call, DType type);

}  // namespace baton
