#include "baton/transform/constant_value.h"

#include <vector>

#include "baton/support/pointer_map.h"

namespace baton {

namespace {

// Tuples may be nested to any depth, and shared.
bool holds_constants(const Expr& expr, bool or_nothing) {
  if (expr->kind() == ExprKind::kConstant) return true;
  std::vector<const ExprNode*> todo{expr.get()};
  PointerSet seen;
  while (!todo.empty()) {
    const ExprNode* node = todo.back();
    todo.pop_back();
    if (node->kind() == ExprKind::kConstant || !seen.insert(node)) continue;
    const auto* tuple = as<TupleNode>(node);
    if (!tuple || (tuple->fields().empty() && !or_nothing)) return false;
    for (const Expr& field : tuple->fields()) todo.push_back(field.get());
  }
  return true;
}

}  // namespace

bool is_value(const Expr& expr) { return holds_constants(expr, false); }
bool is_constant_value(const Expr& expr) { return holds_constants(expr, true); }

}  // namespace baton
