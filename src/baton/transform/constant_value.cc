#include "baton/transform/constant_value.h"

#include <algorithm>

namespace baton {

bool is_value(const Expr& expr) {
  if (expr->kind() == ExprKind::kConstant) return true;
  const auto* tuple = as<TupleNode>(expr);
  return tuple && !tuple->fields().empty() && std::ranges::all_of(tuple->fields(), is_value);
}

}  // namespace baton
