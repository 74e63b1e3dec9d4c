#pragma once
// Type inference: types every node. Nodes that are already typed are skipped with everything below them
// (invariant: the children of a typed node are typed), so the cost is proportional to the new nodes.
#include "baton/ir/module.h"
#include "baton/pass/pass.h"

namespace baton {

/// The pass "InferType" (a module pass of level 0).
Pass infer_type();

/// `expr` with types: untyped nodes are rebuilt with the same origins and spans; the same object when all are
/// typed. Free variables are allowed; the type of one without an annotation must follow from its uses.
/// `module`: resolves calls of its functions. Throws DiagnosticError.
Expr infer_type(const Expr& expr, const IRModuleNode* module = nullptr);

/// Infers all functions of `module` together; calls use the callee's annotations or, where these are missing,
/// its inferred types. Modifies and returns `module`, which is then typed (IRModuleNode::is_typed): one that
/// is already is returned as it is. Throws DiagnosticError with all errors of the module,
/// and then leaves it unchanged.
IRModule infer_types(IRModule module);

/// Whether inference from scratch, ignoring existing types, yields the existing types. For tests.
bool types_are_right(const IRModuleNode& module);

}  // namespace baton
