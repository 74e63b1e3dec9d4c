#pragma once
// Checks whether the origins of a program's nodes are exact, by comparison with the program it was made from.
#include <string>

#include "baton/ir/module.h"

namespace baton::properties {

/// Two necessary conditions of exact attribution for the result of a pass on `before`. A node of `after` with
/// origins (i) may only reach results that one of its origins reached, and (ii) may directly read a parameter
/// of main only if one of its origins depended on it. Returns a description of the first violation, or "".
/// Passes that combine several values in one tensor (stacking parallel operators) violate them by design;
/// those that move an operator towards the result (`forward`) violate the second.
std::string misattribution(const IRModule& before, const IRModule& after, bool forward = false);

}  // namespace baton::properties
