#pragma once
// What builds of plans and of programs share.
#include <functional>

#include "baton/driver/build.h"

namespace baton {

/// How a build differs from others.
struct BuildSteps {
  /// The module, typed and without parameters bound, as it is planned.
  std::function<IRModule(const IRModule& typed, const BuildOptions& options)> optimize;
  /// Fills in the plan of `result.optimized`, and the program if there is one. `compiled`: a kernel was found
  /// to need numbers only when it was compiled (NeedsNumbers).
  std::function<void(BuildResult& result, const BuildContext& context, bool compiled)> plan;
  bool replan = false;  ///< `plan` is called again when that happens; else it is an error
  bool code = true;     ///< compiles the kernels
};

/// Passes, plan, origins, kernels.
BuildResult run_build(const IRModule& module, const BuildOptions& options, const BuildSteps& steps);

}  // namespace baton
