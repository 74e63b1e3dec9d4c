#pragma once
// Defunctionalization: eliminates functions as values.
#include "baton/ir/module.h"

namespace baton {

/// Converts every function that `function` passes, stores or returns into data: one data type per function
/// type, with one constructor per function (its fields are the captured variables), and a function `apply`
/// with one clause per constructor. Called functions of `module` are converted too: those that take or return
/// functions under new names, the others in place. New types and functions are entered in `module`.
/// `function` itself must not take or return functions.
Function defunctionalize(const Function& function, const IRModule& module);

}  // namespace baton
