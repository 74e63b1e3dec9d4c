#pragma once
// Type inference: gives every node its type. A typed node is trusted, and so is everything below it:
// inference costs only what is new, and a typed module costs nothing.
#include "baton/ir/module.h"
#include "baton/pass/pass.h"

namespace baton {

/// The pass "InferType" (a module pass of level 0).
Pass infer_type();

/// `expr` typed: new nodes, with the same origins and spans, for those that had no type; the very same object
/// when all have one. Free variables are allowed; one without an annotation must follow from its uses.
/// `module`: for calls of its functions. Throws DiagnosticError.
Expr infer_type(const Expr& expr, const IRModuleNode* module = nullptr);

/// All functions of `module`, typed together; calls of other functions count with their annotations or, when
/// those are missing, with what is inferred. `module` itself is changed and returned. Throws DiagnosticError
/// with every mistake of the module, and leaves the module as it was.
IRModule infer_types(IRModule module);

/// Whether inferring everything anew, without trusting any type that is there, gives the types that are
/// there. For tests.
bool types_are_right(const IRModuleNode& module);

}  // namespace baton
