#pragma once
// Runs the computes of operators without compiling them: for constant folding, where most work is smaller
// than a compilation. Needs no Halide.h.
#include <string>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/support/base/ndarray.h"

namespace baton {

/// Computes a typed, straight-line function of dense inputs (one per tensor parameter) into `outputs`. False,
/// with outputs in any state, when it meets something it does not know or expects to take longer than
/// `limit_s` seconds.
bool interpret(const FunctionNode& function, const std::vector<NDArray>& inputs,
               std::vector<NDArray>& outputs, double limit_s, std::string* why = nullptr);

}  // namespace baton
