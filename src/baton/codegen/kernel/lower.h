#pragma once
// A fused function as one Halide pipeline, not scheduled yet. Needs Halide.h: for .cc files of codegen only.
#include <set>
#include <string>

#include "baton/codegen/kernel/kernel.h"
#include "baton/schedule/template.h"

namespace baton {

struct LowerOptions {
  /// First part of every Func's name. Halide numbers names that it has seen before in the process, so equal
  /// objects need a prefix that is unique to the kernel: its key.
  std::string prefix;
  /// Blocks to be replaced by their first data input (cast and broadcast to the type of their result). What
  /// other inputs were computed for stays alive, or the difference would be billed to the wrong operator.
  std::set<int> ablate;
};

/// `function`: typed; its body made of operator calls, tuples, projections and constants. Scalar constants
/// become immediates, others are linked into the kernel. Throws NotSupported for an operator without compute,
/// an extent that is unknown, or a construct that is no straight-line code.
LoweredKernel lower(const FunctionNode& function, const LowerOptions& options);

}  // namespace baton
