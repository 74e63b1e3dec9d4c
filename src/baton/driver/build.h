#pragma once
// Builds an executable from a module: passes, kernels, plan, artifact.
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "baton/codegen/backend.h"
#include "baton/codegen/compiler.h"
#include "baton/driver/build_result.h"
#include "baton/driver/origins/operator_map.h"
#include "baton/ir/module.h"
#include "baton/runtime/artifact.h"
#include "baton/runtime/executor.h"
#include "baton/runtime/queue_executor.h"
#include "baton/support/base/params_blob.h"

namespace baton {

struct BuildOptions {
  NamedArrays params = {};  ///< bound as constants of `main`; names that `main` does not have are ignored
  std::string mod_name = "default";
  BuildContext context = {};  ///< host_context(), or as set by Python or the command line
};

/// Throws DiagnosticError or Error for invalid programs, NotSupported for a target without a backend,
/// InternalError for a compiler bug.
BuildResult build(const IRModule& module, const BuildOptions& options);

/// All that build() knows before it makes code: the optimized module, the plan and the origins; no kernels.
BuildResult plan_build(const IRModule& module, const BuildOptions& options);

/// What would compile a kernel, and how.
struct PlannedSchedule {
  std::string backend;      ///< its name: "llvm"
  KernelSchedule schedule;  ///< empty where the backend does not say it before
};
/// The schedule of each kernel of the plan, in order. `context`: that of plan_build().
std::vector<PlannedSchedule> schedules_of(const BuildResult& result, const BuildContext& context);

/// Plan and kernels of an already optimized module, as prepare_kernels() returns it. The result has no origin
/// report; its plan's nodes have their origins.
BuildResult build_prepared(const IRModule& optimized, const BuildOptions& options);

/// The code of all backends of the built program, loaded. Error that says what is missing where a device is.
Executor::Modules load_modules(const BuildResult& result);

/// An executor for the built program.
std::unique_ptr<Executor> make_executor(const BuildResult& result);

/// Sets the inputs of `executor` to the given values, the rest by the tensor rule; Error for unknown names.
void set_model_inputs(Executor& executor, const NamedArrays& given);

/// The same with devices and links side by side, for a stream of inputs; `instances` as in
/// QueueExecutor::create().
std::unique_ptr<QueueExecutor> make_queue_executor(const BuildResult& result, size_t instances = 0);

/// The mapping between nodes and operators, with source lines. Throws Error for the result of
/// build_prepared().
OperatorMap operator_map(const BuildResult& result);

/// Writes one file that runs without the compiler. Throws Error when it cannot be written, or when the
/// host's library is missing for lack of a linker. Without `origins` the operators of kernels are omitted.
void write_artifact(const BuildResult& result, const std::string& path, bool origins = true);

/// The input of planning: `typed` with parameters bound, optimized and fused, and regions compiled by their
/// external compilers.
IRModule optimized_for_build(const IRModule& typed, const BuildOptions& options);

/// "f32", "strict", "bf16": what the context asks for. UsageError for one that is not known.
std::string precision_name(const BuildContext& context);

/// `main` with the named parameters replaced by constants. Throws Error on another shape, or, where
/// `dtypes_too`, on another element type than is declared.
IRModule bind_params(const IRModule& module, const NamedArrays& params, bool dtypes_too = true);

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
