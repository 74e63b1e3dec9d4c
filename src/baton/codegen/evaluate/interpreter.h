#pragma once
// Runs the computes of operators without compiling them: for constant folding, where most work is smaller
// than a compilation. Needs no Halide.h.
#include <string>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/support/base/ndarray.h"

namespace baton {

struct InterpretOptions {
  double limit_s = 1e9;     ///< what is expected to take longer is not done
  bool strided = true;      ///< may walk memory in strides (strided_program.h)
  bool elementwise = true;  ///< may compute the offset of each element
};

/// Computes a typed, straight-line function of dense inputs (one per tensor parameter) into `outputs`. False,
/// with outputs in any state, when it meets something it does not know or may not do.
bool interpret(const FunctionNode& function, const std::vector<NDArray>& inputs,
               std::vector<NDArray>& outputs, const InterpretOptions& options, std::string* why = nullptr);

}  // namespace baton
