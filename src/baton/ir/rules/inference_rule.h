#pragma once
// What an operator is when nobody trains: arithmetic that fusion and FoldScaleAxis can work with. Attached
// through OpDef::rules, read by SimplifyInference.
#include "baton/ir/expr.h"

namespace baton {

struct InferenceRule {
  /// What takes the place of `replaces`, or null when the call stays. `call` has rewritten arguments; `data`
  /// is the type of the first one.
  Expr (*rewrite)(const CallNode& call, const TensorTypeNode& data);
  /// The result that is replaced. A call whose other results are used keeps those.
  enum class Replaces { kResult, kFirstOfTuple } replaces = Replaces::kResult;
};

}  // namespace baton
