#pragma once
// Eta expansion: wraps functions and constructors used as values in lambdas.
#include "baton/ir/module.h"

namespace baton {

/// `function` with each constructor of `module` that is used as a value wrapped in a lambda.
Function eta_expand_constructors(const Function& function, const IRModuleNode& module);

}  // namespace baton
