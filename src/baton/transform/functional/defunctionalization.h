#pragma once
// Programs without functions as values.
#include "baton/ir/module.h"

namespace baton {

/// `function` with every function that it passes on, keeps or returns made into data: a type for each type of
/// functions, a constructor for each function (its fields are the variables that the function uses), and a
/// function `apply` that has a clause for each. Functions of `module` that it calls are converted too: those
/// that take or return functions under new names, the others in place. Types and functions are entered in
/// `module`. `function` itself must not take or return functions.
Function defunctionalize(const Function& function, const IRModule& module);

}  // namespace baton
