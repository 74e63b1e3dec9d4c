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
  /// A number for each numbered_extent() of the function, to choose schedules by.
  std::vector<int64_t> usual = {};
};

/// `function`: typed; its body consists of operator calls, tuples, projections and constants; its extents are
/// numbers or of numbered_extent()s. Scalar constants become immediates, others are linked into the kernel.
/// Throws NotSupported for an operator without compute, or control flow; NeedsNumbers for an unknown extent,
/// or a symbolic one where the operator needs a number.
LoweredKernel lower(const FunctionNode& function, const LowerOptions& options);

}  // namespace baton
