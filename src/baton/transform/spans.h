#pragma once
// Programs with other positions: the same nodes, types and origins.
#include "baton/ir/module.h"
#include "baton/pass/rewriter.h"
#include "baton/support/pointer_map.h"

namespace baton {

/// Rebuilds expressions so that nodes have the spans of a table; others keep theirs. Goes into every
/// function.
class SpanWriter final : public Rewriter {
 public:
  /// `spans` must live as long as this.
  explicit SpanWriter(const PointerMap<Span>& spans) : spans_(spans) {}

 private:
  bool enter(const Expr&) override { return true; }
  Var rewrite_var(const Var& var) override;
  Expr rewrite(const Expr& original, const Expr& rebuilt) override;

  const PointerMap<Span>& spans_;
};

}  // namespace baton
