#pragma once
// (fn (p) { body })(a)  ->  body[p := a].
#include <unordered_map>

#include "baton/pass/rewriter.h"

namespace baton {

/// The body of `function` with `args` substituted for its parameters.
inline Expr inlined_call(const FunctionNode& function, const ExprList& args) {
  std::unordered_map<const ExprNode*, Expr> values;
  for (size_t i = 0; i < args.size(); ++i) values.emplace(function.params()[i].get(), args[i]);
  return substitute(function.body(), values);
}

/// Inlines composite functions (MergeComposite) that are neither a region nor a kernel.
class OpenCompositeInliner final : public Rewriter {
  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    const auto* call = as<CallNode>(rebuilt);
    const auto* function = call ? as<FunctionNode>(call->callee()) : nullptr;
    if (!function || !function->attr("Composite") || function->attr("Compiler") || function->is_primitive())
      return rebuilt;
    return inlined_call(*function, call->args());
  }
};

}  // namespace baton
