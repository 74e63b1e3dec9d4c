#pragma once
// Types of expressions that are not (yet) part of a module.
#include "baton/ir/module.h"

namespace baton {

/// `expr` with types; free variables are allowed. `module`: for calls of its functions; may be null. The
/// user's instruments see nothing of it. Throws DiagnosticError.
Expr typed_expr(const Expr& expr, const IRModuleNode* module);

}  // namespace baton
