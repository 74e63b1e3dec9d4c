#pragma once
// Continuation-passing style: a function takes what is to be done with its result as a last parameter, and
// calls it.
#include "baton/ir/module.h"

namespace baton {

/// `function`, and every function in it, in that style: `fn [answer](x: T, k: fn (R) -> answer) -> answer`.
/// Functions of `module` that it calls are entered there, converted too, as NAME_cps. Functions without types
/// are typed first.
Function to_cps(const Function& function, const IRModule& module);

/// Such a function as one that returns its result: `fn (x: T) -> R { function(x, fn (r) { r }) }`. Throws
/// Error when the last parameter is no continuation.
Function un_cps(const Function& function);

/// Whether `function` has the form that to_cps gives it.
bool is_cps(const Function& function);

}  // namespace baton
