#pragma once
// Continuation-passing style (CPS): a function takes its continuation as last parameter and calls it with its
// result.
#include "baton/ir/module.h"

namespace baton {

/// `function` and every nested function in CPS: `fn [answer](x: T, k: fn (R) -> answer) -> answer`. Called
/// functions of `module` are converted too and entered there as NAME_cps. Untyped functions are inferred
/// first.
Function to_cps(const Function& function, const IRModule& module);

/// A direct-style wrapper of a CPS function: `fn (x: T) -> R { function(x, fn (r) { r }) }`. Throws Error
/// when the last parameter is not a continuation.
Function un_cps(const Function& function);

/// Whether `function` has the form produced by to_cps.
bool is_cps(const Function& function);

}  // namespace baton
