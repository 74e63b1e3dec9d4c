#pragma once
// Whether the nodes of a program stand for what they compute, judged by the program that it was made from.
#include <string>

#include "baton/ir/module.h"

namespace baton::properties {

/// Two rules that exact attribution implies, for what a pass made of `before`. A node of `after` that stands
/// for operators (i) may lead only to results that one of them led to, and (ii) may read a parameter of main
/// itself only if one of them depended on it. Returns the first breach in words, or "". Passes that put
/// several values in one tensor (stacking parallel operators) break them by design; those that move an
/// operator towards the result (`forward`) break the second.
std::string misattribution(const IRModule& before, const IRModule& after, bool forward = false);

}  // namespace baton::properties
