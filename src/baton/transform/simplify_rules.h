#pragma once
// The rules of SimplifyExpr. Each looks at one call whose arguments are simplified already.
#include <string_view>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/pass/pass.h"

namespace baton {

/// A call as a rule sees it. Types are those of the original program: rewriting never changes a type.
struct SimplifyMatch {
  const CallNode& call;
  Type type;                    ///< of the call
  std::vector<Type> arg_types;  ///< may hold nulls
  Evaluator* evaluator;         ///< null: constants are not computed
};

/// What takes the call's place, or null when the rule does not apply. An open scope stands for the call; a
/// rule that consumes more calls opens one with the union. What goes away without a trace is retired with the
/// reason.
struct SimplifyRule {
  const char* name;
  std::vector<std::string_view> ops;  ///< the calls it looks at; empty: all
  Expr (*apply)(const SimplifyMatch& match);
};

/// In the order they are tried.
std::vector<const SimplifyRule*> simplify_rules();
const std::vector<SimplifyRule>& shape_rules();  ///< like-operators, reshape, transpose, layout_transform
const std::vector<SimplifyRule>& arithmetic_rules();  ///< identities, constants, casts

}  // namespace baton
