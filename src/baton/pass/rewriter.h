#pragma once
// How passes change programs: post-order, memoised, iterative, with origins handled by the machinery.
#include <unordered_map>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/support/pointer_map.h"

namespace baton {

/// Rebuilds an expression from its leaves. Override `rewrite`; nodes built in it stand for the node being
/// rewritten (an OriginScope with its origins is open).
class Rewriter {
 public:
  virtual ~Rewriter() = default;
  /// The rewritten `root`; `root` itself when nothing changed. May be called several times: results are kept.
  Expr run(const Expr& root);

 protected:
  /// `original` is the node as it was (typed as before), `rebuilt` the same node over rewritten children (the
  /// very same object when no child changed, else without a type). Returns what takes its place. Not called
  /// for variables (see rewrite_var) and operators.
  virtual Expr rewrite(const Expr& original, const Expr& rebuilt) {
    (void)original;
    return rebuilt;
  }
  /// Whether to go into a node's children: by default everywhere but primitive functions and those with a
  /// Compiler.
  virtual bool enter(const Expr& node);
  /// Variables are kept unless this says otherwise; binding occurrences are rewritten too.
  virtual Var rewrite_var(const Var& var) { return var; }
  /// The type of `node` once it is rebuilt over rewritten children, where that is known beforehand:
  /// node.checked_type() in passes that change no type, which then have nothing to infer at their end. What
  /// rewrite() puts in must be typed too; where it is not, nothing over it is.
  virtual Type type_of_rebuilt(const ExprNode& node) const {
    (void)node;
    return {};
  }
  /// Called when the value of a let is rewritten, before its body is: the place to map(let.var(), value).
  virtual void let_value(const LetNode& let, const Expr& value) {
    (void)let;
    (void)value;
  }
  /// What `original` became; only for nodes that were visited already.
  Expr mapped(const Expr& original) const;
  /// Makes later uses of `original` become `result` (for let-bound variables, parameters). A binding
  /// occurrence keeps its variable unless `result` is one.
  void map(const Expr& original, Expr result);

 private:
  Expr rebuild(const ExprNode& node) const;
  bool children_changed(const ExprNode& node) const;
  Var binder(const Var& var) const;
  PointerMap<Expr> memo_;
  mutable std::vector<const Expr*> became_;  // of the node that is being rebuilt
  std::vector<Expr> kept_;                   // originals are kept alive as long as the memo names them
};

/// `expr` with variables replaced (by pointer), also inside primitive functions.
Expr substitute(const Expr& expr, const std::unordered_map<const ExprNode*, Expr>& values);

}  // namespace baton
