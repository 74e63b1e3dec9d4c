#pragma once
// The evaluator for constant folding: runs the same computes as kernels do. Small work is interpreted, large
// work compiled.
#include <memory>

#include "baton/pass/pass.h"
#include "baton/target/device_sheet.h"

namespace baton {

enum class EvaluateBy {
  kChoose,    ///< interpret unless compiling (or an existing kernel) is expected to be faster
  kRepeated,  ///< the same, for calls that come again: those of one kind are compiled once interpreting has
              ///< taken as long
  kInterpreter,  ///< the others are for tests; NotSupported for unsupported expressions
  kStrided,      ///< strided interpretation only
  kElementwise,  ///< element-wise interpretation only
  kKernel,
};

/// Thread safe. Compiled kernels are cached in the process and on disk. `machine`: what this process runs on,
/// whatever the processor that a build is for.
std::shared_ptr<Evaluator> make_evaluator(EvaluateBy by = EvaluateBy::kChoose,
                                          const DeviceSheet& machine = DeviceSheet::host());

}  // namespace baton
