#pragma once
// Constant folding's evaluator: runs the same computes as kernels do. Small work is interpreted, large work
// compiled.
#include <memory>

#include "baton/pass/pass.h"

namespace baton {

enum class EvaluateBy {
  kChoose,    ///< interpret unless compiling (or a kernel that is there already) is expected to be faster
  kRepeated,  ///< the same, for calls that come again: those of one kind are compiled once interpreting has
              ///< taken as long
  kInterpreter,  ///< the others are for tests; NotSupported when it lacks something
  kStrided,      ///< interpreted in strides or not at all
  kElementwise,  ///< interpreted, but never in strides
  kKernel,
};

/// Thread safe. Compiled kernels are kept in the process and in the kernel cache.
std::shared_ptr<Evaluator> make_evaluator(EvaluateBy by = EvaluateBy::kChoose);

}  // namespace baton
