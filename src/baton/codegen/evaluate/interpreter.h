#pragma once
// Interprets the computes of operators: for constant folding, where most work is smaller than a compilation.
// Does not need Halide.h.
#include <string>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/support/base/ndarray.h"

namespace baton {

struct InterpretOptions {
  double limit_s = 1e9;     ///< gives up when the expected time is longer
  bool strided = true;      ///< may use strided programs (strided_program.h)
  bool elementwise = true;  ///< may compute offsets per element
};

/// Computes a typed, straight-line function of dense inputs (one per tensor parameter) into `outputs`. False,
/// with unspecified outputs, for unsupported expressions or exceeded limits.
bool interpret(const FunctionNode& function, const std::vector<NDArray>& inputs,
               std::vector<NDArray>& outputs, const InterpretOptions& options, std::string* why = nullptr);

}  // namespace baton
