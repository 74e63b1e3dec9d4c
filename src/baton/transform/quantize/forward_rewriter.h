#pragma once
// Rewriting from the arguments to their users, where a result may be staged: known to the rules of its users
// in a form that everybody else must not see. Users without a rule get the finished form.
#include "baton/pass/rewriter.h"
#include "baton/support/pointer_map.h"

namespace baton {

class ForwardRewriter : public Rewriter {
 protected:
  /// What takes the place of a call of an operator whose arguments may be staged. Null when there is no rule:
  /// the call stays, over finished arguments.
  virtual Expr forward(const CallNode& original, const CallNode& call) = 0;
  virtual bool is_staged(const Expr& expr) const = 0;
  /// The finished form of a staged expression, made anew.
  virtual Expr finish(const Expr& staged) = 0;
  /// Looks at what `original` became, before anybody uses it.
  virtual Expr result(const Expr& original, const Expr& became) {
    (void)original;
    return became;
  }
  /// The finished form, the same for all who ask; `expr` itself when it is not staged. Of a tuple: with
  /// finished fields.
  Expr finished(const Expr& expr);

 private:
  Expr rewrite(const Expr& original, const Expr& rebuilt) final;
  Expr over_finished(const Expr& rebuilt);
  Expr over_tuples(const TupleNode& tuple, const Expr& rebuilt);
  bool holds_staged(const Expr& expr) const;

  PointerMap<Expr> finished_;
  PointerSet holding_;      // tuples with staged fields
  std::vector<Expr> kept_;  // keys of both
};

}  // namespace baton
