#pragma once
// The passes of a build, in order.
#include <string>
#include <vector>

#include "baton/ir/module.h"
#include "baton/pass/pass.h"

namespace baton {

/// The targets that a build under `context` is for: those that it names, else that of its first device.
/// Throws NotSupported for one that no backend serves.
std::vector<TargetRef> build_targets(const BuildContext& context);

/// What a build runs over a module whose parameters are bound, as one Sequential: gates and required passes
/// apply.
Pass optimization_passes(const std::vector<TargetRef>& targets);

/// What follows them: a module of primitive functions as plans are made from.
IRModule prepare_kernels(IRModule module, const BuildContext& context);

/// optimization_passes(), then what prepares kernels: a typed module of calls to primitive functions. Throws
/// DiagnosticError or Error for what is wrong with the program.
IRModule optimize(const IRModule& module, const BuildContext& context);

/// What TVM 0.11.1 makes of `module` for `target` ("llvm"), its layouts too: builds are held against this,
/// they do not use it.
IRModule optimize_as_tvm(const IRModule& module, const std::string& target, const BuildContext& context);

}  // namespace baton
