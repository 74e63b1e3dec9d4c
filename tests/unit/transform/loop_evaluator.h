// A plain evaluator for tests of passes: loops over float32, for the operators that folding weights needs.
#pragma once

#include "baton/pass/pass.h"

namespace baton {

/// add, subtract, multiply, divide (broadcast), sqrt, negative, reshape-like operators, layout_transform. NotSupported for
/// all others.
class LoopEvaluator final : public Evaluator {
 public:
  std::vector<NDArray> evaluate(const CallNode& call) override;
};

/// A context at `opt_level` with a LoopEvaluator and the origin verifier.
PassContextRef test_context(int opt_level);

}  // namespace baton
