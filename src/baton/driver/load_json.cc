#include "baton/driver/load_json.h"

#include <algorithm>

#include "baton/ir/visit.h"
#include "baton/support/error.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

// Passes trust the types of typed nodes, so types from files are verified here.
bool is_right(const IRModuleNode& module) {
  const bool typed = std::all_of(module.functions().begin(), module.functions().end(),
                                 [](const auto& each) { return bool(each.second->checked_type()); });
  if (!typed) return false;
  try {
    return types_are_right(module);
  } catch (const Error&) {
    return false;
  }
}

// Whether nothing was inferred when it was saved: it comes back as it was. Constants and annotated variables
// have types anyhow.
bool is_untyped(const Expr& expr) {
  bool untyped = true;
  post_order(expr, [&](const Expr& node) {
    const bool has_one = node->kind() == ExprKind::kConstant || node->kind() == ExprKind::kVar;
    untyped = untyped && (has_one || !node->checked_type());
  });
  return untyped;
}

}  // namespace

Saved load_json(std::string_view text) {
  Saved saved = from_json(text);
  if (saved.module ? is_right(*saved.module) : is_untyped(saved.expr)) return saved;
  // Parse again without types: nodes are immutable, so types cannot be removed.
  saved = {};
  saved = from_json(text, false);
  try {
    if (saved.module)
      infer_types(saved.module);
    else
      saved.expr = infer_type(saved.expr);
  } catch (const Error&) {
    // An ill-typed module can still be inspected, printed and saved.
  }
  return saved;
}

}  // namespace baton
