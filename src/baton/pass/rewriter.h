#pragma once
// The base class of rewriting passes: post-order, memoised, iterative; origins are propagated automatically.
#include <unordered_map>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/support/pointer_map.h"

namespace baton {

/// Rewrites an expression bottom-up. Override `rewrite`; nodes built in it get the origins of the node being
/// rewritten (an OriginScope is open).
class Rewriter {
 public:
  virtual ~Rewriter() = default;
  /// The rewritten `root`; `root` itself when nothing changed. May be called repeatedly: results are memoised
  /// across calls.
  Expr run(const Expr& root);

 protected:
  /// `original` is the unmodified node (with its type); `rebuilt` is the same node over rewritten children
  /// (the same object when no child changed, else untyped). Returns the replacement. Not called for variables
  /// (see rewrite_var) and operators.
  virtual Expr rewrite(const Expr& original, const Expr& rebuilt) {
    (void)original;
    return rebuilt;
  }
  /// Whether to rewrite a node's children: by default all but those of primitive functions and of functions
  /// with a Compiler.
  virtual bool enter(const Expr& node);
  /// Replaces a variable, at uses and binding occurrences. Default: unchanged.
  virtual Var rewrite_var(const Var& var) { return var; }
  /// The type of `node` after its children are rewritten, if known in advance: passes that preserve types
  /// return node.checked_type() and need no inference afterwards. Replacements from rewrite() must then be
  /// typed too; otherwise their users are untyped.
  virtual Type type_of_rebuilt(const ExprNode& node) const {
    (void)node;
    return {};
  }
  /// Called after the value of a let is rewritten and before its body is; may call map(let.var(), value).
  virtual void let_value(const LetNode& let, const Expr& value) {
    (void)let;
    (void)value;
  }
  /// The replacement of `original`, which must have been visited.
  Expr mapped(const Expr& original) const;
  /// Replaces later uses of `original` by `result` (for let-bound variables, parameters). A binding
  /// occurrence keeps its variable unless `result` is one.
  void map(const Expr& original, Expr result);

 private:
  Expr rebuild(const ExprNode& node) const;
  bool children_changed(const ExprNode& node) const;
  Var binder(const Var& var) const;
  PointerMap<Expr> memo_;
  mutable std::vector<const Expr*> became_;  // children of the node being rebuilt
  std::vector<Expr> kept_;                   // keeps the memo's keys alive
};

/// `expr` with variables replaced (by identity), also inside primitive functions.
Expr substitute(const Expr& expr, const std::unordered_map<const ExprNode*, Expr>& values);

}  // namespace baton
