#pragma once
// Types of single nodes over typed children, for passes that ask for the type of each node they make: no
// inference has to be set up when an operator's relation gives the answer at once.
#include "baton/ir/module.h"

namespace baton {

/// `expr`, whose children are typed, with its type. `module`: for functions of it that `expr` names. Throws
/// DiagnosticError as inference does.
Expr typed_node(const Expr& expr, const IRModuleNode& module);

}  // namespace baton
