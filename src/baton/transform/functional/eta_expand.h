#pragma once
// Functions and constructors as values: a lambda around them.
#include "baton/ir/module.h"

namespace baton {

/// `function` with a lambda around each constructor of `module` that is a value.
Function eta_expand_constructors(const Function& function, const IRModuleNode& module);

}  // namespace baton
