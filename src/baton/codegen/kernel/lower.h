#pragma once
// Lowers a fused function to one unscheduled Halide pipeline. Needs Halide.h: for .cc files of codegen only.
#include <set>
#include <string>

#include "baton/codegen/kernel/kernel.h"
#include "baton/schedule/template.h"

namespace baton {

struct LowerOptions {
  /// Prefix of every Func's name. Halide numbers names already seen in the process, so reproducible objects
  /// need a prefix unique to the kernel: its key.
  std::string prefix;
  /// Blocks to replace by one of their data inputs (cast and broadcast to the type of their result). The
  /// computation of other inputs is kept alive, or the difference would be attributed to the wrong operator.
  std::set<int> ablate;
  bool fused_multiply_add = false;  ///< FusedMultiplyAdd (ops/ieee.h)
};

/// `function`: typed; its body consists of operator calls, tuples, projections and constants. Scalar
/// constants become immediates, others are linked into the kernel. Throws NotSupported for an operator
/// without compute, an unknown extent, or control flow.
LoweredKernel lower(const FunctionNode& function, const LowerOptions& options);

}  // namespace baton
