#pragma once
// From a module to something that runs: passes, kernels, plan, artifact.
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
#include "baton/support/base/params_blob.h"

namespace baton {

struct BuildOptions {
  NamedArrays params = {};  ///< become constants of `main`; names that `main` does not have are ignored
  std::string mod_name = "default";
  BuildContext context = {};  ///< of a door: host_context(), or what Python or the command line said
};

/// Throws DiagnosticError or Error for what is wrong with the program, NotSupported for a target that no
/// backend serves, InternalError for a bug of ours.
BuildResult build(const IRModule& module, const BuildOptions& options);

/// Plan and kernels of a module that the passes have been over: `optimized` as prepare_kernels() leaves it.
/// Its result has no report of origins; the nodes of the plan have theirs.
BuildResult build_prepared(const IRModule& optimized, const BuildOptions& options);

/// Runs what was built.
std::unique_ptr<Executor> make_executor(const BuildResult& result);

/// Which operators its nodes compute, with the lines of its source. Throws Error for the result of
/// build_prepared().
OperatorMap operator_map(const BuildResult& result);

/// One file that runs without the compiler. Throws Error when it cannot be written, or when no linker made
/// kernels_so. Without `origins` it says no more which operators its kernels compute.
void write_artifact(const BuildResult& result, const std::string& path, bool origins = true);

/// What build() makes its plan from: `typed` with parameters bound, optimized and fused, regions built by
/// their compilers.
IRModule optimized_for_build(const IRModule& typed, const BuildOptions& options);

/// `main` with the parameters of those names replaced by constants. Throws Error when a type does not fit.
IRModule bind_params(const IRModule& module, const NamedArrays& params);

}  // namespace baton
