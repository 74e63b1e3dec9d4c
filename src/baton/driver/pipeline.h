#pragma once
// The pass pipeline of a build.
#include <functional>
#include <string>
#include <vector>

#include "baton/ir/module.h"
#include "baton/pass/pass.h"
#include "baton/schedule/layer_variant.h"

namespace baton {

/// The targets of a build under `context`: those it names, else that of its first device. Throws NotSupported
/// for a target without a backend.
std::vector<TargetRef> build_targets(const BuildContext& context);

/// The context with the sheets of its targets' devices as the targets' options say, such as `-arch`.
BuildContext with_target_options(BuildContext context);

/// The passes of a build, run on a module with bound parameters, as one Sequential: gates and required passes
/// apply. `config`: for its precision. Functions that `entries` do not reach are removed.
Pass optimization_passes(const std::vector<TargetRef>& targets, const PassConfig& config,
                         const std::vector<std::string>& entries = {"main"});

/// `module` (typed, with its parameters bound) as it is after the layout pass of a build, with each layer
/// computed as `variant` says; kByCost: as the build would choose. A build of it leaves its layouts as they
/// are. `variant` sees calls as the layout pass does, with their origins.
IRModule with_layouts_of(const IRModule& module, const std::function<LayerVariant(const CallNode&)>& variant,
                         const BuildContext& context);

/// The steps after them: returns a module of primitive functions, the input of planning.
IRModule prepare_kernels(IRModule module, const BuildContext& context);

/// optimization_passes() and prepare_kernels(): returns a typed module of calls to primitive functions.
/// Throws DiagnosticError or Error for invalid programs.
IRModule optimize(const IRModule& module, const BuildContext& context);

/// The same for a module whose functions `entries` are called from outside.
IRModule optimize_program(const IRModule& module, const std::vector<std::string>& entries,
                          const BuildContext& context);

/// optimize() with simplifications that builds leave out because they change floats (relay.optimize): see
/// BuildContext::exact_floats.
IRModule optimize_with_inexact_floats(const IRModule& module, const BuildContext& context);

/// The result of TVM 0.11.1's pipeline, layouts included, for `target` ("llvm"). Used for comparison only,
/// not by builds.
IRModule optimize_as_tvm(const IRModule& module, const std::string& target, const BuildContext& context);

}  // namespace baton
