#pragma once
// Replaces the spans of programs; nodes, types and origins are otherwise unchanged.
#include "baton/ir/module.h"
#include "baton/pass/rewriter.h"
#include "baton/support/pointer_map.h"

namespace baton {

/// Rewrites expressions with the spans of a table; nodes not in it keep theirs. Enters all functions.
class SpanWriter final : public Rewriter {
 public:
  /// `spans` must outlive this object.
  explicit SpanWriter(const PointerMap<Span>& spans) : spans_(spans) {}

 private:
  bool enter(const Expr&) override { return true; }
  Var rewrite_var(const Var& var) override;
  Expr rewrite(const Expr& original, const Expr& rebuilt) override;

  const PointerMap<Span>& spans_;
};

}  // namespace baton
