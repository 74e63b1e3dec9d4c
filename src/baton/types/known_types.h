#pragma once
// Types single nodes over typed children, for passes that need the type of each node they build: avoids
// setting up inference when the operator's relation determines the result directly.
#include "baton/ir/module.h"

namespace baton {

/// `expr`, whose children are typed, with its type. `module`: resolves global functions in `expr`. Throws
/// DiagnosticError as inference does.
Expr typed_node(const Expr& expr, const IRModuleNode& module);

}  // namespace baton
