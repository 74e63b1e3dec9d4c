#pragma once
// Type inference for expressions that are not (yet) part of a module.
#include "baton/ir/module.h"

namespace baton {

/// `expr` with types; free variables are allowed. `module`: resolves calls; may be null. Runs without the
/// user's instruments. Throws DiagnosticError.
Expr typed_expr(const Expr& expr, const IRModuleNode* module);

}  // namespace baton
