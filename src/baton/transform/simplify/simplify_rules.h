#pragma once
// The rules of SimplifyExpr. Each looks at one call, its root, and the calls below it that it takes in.
#include <string_view>
#include <vector>

#include "baton/ir/op.h"
#include "baton/ir/rules/algebra.h"
#include "baton/pass/pass.h"

namespace baton {

/// A call as a rule sees it. Types are those of the original program: rewriting never changes a type.
struct SimplifyMatch {
  const CallNode& call;
  Type type;                    ///< of the call
  std::vector<Type> arg_types;  ///< may hold nulls
  const BuildContext* folds;    ///< under which constants are computed; null: constants are not computed
  bool exact_floats;            ///< see BuildContext
};

/// What takes the call's place, or null when the rule does not apply. An open scope stands for the call; a
/// rule that consumes more calls opens one with the union. What goes away without a trace is retired with the
/// reason.
struct SimplifyRule {
  const char* name;
  bool (*root)(const OpDef& op);  ///< whose calls it looks at
  /// Whether `call` has the form of the rule, and the calls below it that belong to the form: the rule is
  /// applied where nobody else reads them, and no two of its forms share one. Null: every call, without more.
  bool (*form)(const CallNode& call, std::vector<Expr>& inner);
  Expr (*apply)(const SimplifyMatch& match);
};

/// Roots by what operators say of themselves, and by name where the rule is about those operators.
template <class Rule>
bool has_rule(const OpDef& op) {
  return op.rules.get<Rule>() != nullptr;
}
template <Arithmetic... of>
bool is_arithmetic(const OpDef& op) {
  const auto* arithmetic = op.rules.get<Arithmetic>();
  return arithmetic && ((*arithmetic == of) || ...);
}

inline bool is_op(const OpDef& op, std::string_view name) { return op.name == name; }

/// In the order they are applied.
std::vector<const SimplifyRule*> simplify_rules();
const std::vector<SimplifyRule>& like_rules();  ///< operators that ask another tensor for its shape or type
const std::vector<SimplifyRule>& identity_rules();  ///< x + x, 1 / sqrt(x), x + 0, ...
const std::vector<SimplifyRule>& movement_rules();  ///< reshape, transpose, layout_transform
const std::vector<SimplifyRule>& value_rules();     ///< casts, constants that meet, clips

}  // namespace baton
