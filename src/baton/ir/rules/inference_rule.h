#pragma once
// The inference form of an operator: elementwise arithmetic that fusion and FoldScaleAxis can process.
// Attached through OpDef::rules, read by SimplifyInference.
#include "baton/ir/expr.h"

namespace baton {

struct InferenceRule {
  /// The replacement of `replaces`, or null to keep the call. `call` has rewritten arguments; `data` is the
  /// type of the first one.
  Expr (*rewrite)(const CallNode& call, const TensorTypeNode& data);
  /// The replaced result. A call whose other results are used is kept for them.
  enum class Replaces { kResult, kFirstOfTuple } replaces = Replaces::kResult;
};

}  // namespace baton
