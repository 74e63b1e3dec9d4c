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

}  // namespace baton
