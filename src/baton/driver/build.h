#pragma once
// From a module to something that runs: passes, kernels, plan, artifact.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "baton/codegen/backend.h"
#include "baton/codegen/compiler.h"
#include "baton/driver/plan/plan.h"
#include "baton/ir/module.h"
#include "baton/runtime/artifact.h"
#include "baton/runtime/executor.h"
#include "baton/support/base/params_blob.h"

namespace baton {

struct BuildOptions {
  NamedArrays params;  ///< become constants of `main`; names that `main` does not have are ignored
  std::string mod_name = "default";
  BuildContext context = {};  ///< of a door: host_context(), or what Python or the command line said
};

/// Seconds per phase.
struct BuildTimes {
  double optimize_s = 0, plan_s = 0, kernels_s = 0, link_s = 0, total_s = 0;
};

/// What a backend beside the processor's made: its run half loads it.
struct BackendCode {
  std::string backend;  ///< Backend::name
  std::string blob;
  NamedArrays constants;  ///< what it packed
};

struct BuildResult {
  IRModule source;     ///< the module as it was given, parameters not bound
  IRModule optimized;  ///< fused; what the plan was made from
  GraphPlan plan;      ///< graph.json, constants, nodes
  std::string mod_name;
  std::vector<TargetRef> targets;                ///< what it was built for, the first is the default
  std::vector<BuiltKernel> kernels;              ///< those that the plan calls, in order
  std::string kernels_so;                        ///< the processor's; empty where there is no linker
  std::shared_ptr<const KernelLibrary> library;  ///< the same, loaded
  std::vector<BackendCode> code;                 ///< of the other backends, in order of their first kernel
  std::string origins_json;                      ///< every operator of the source: see origin_report.h
  std::vector<std::pair<std::string, Function>>
      function_metadata;  ///< kernel -> fused function, then "__tvm_main__"
  BuildTimes times;
  NamedArrays given;  ///< the parameters as they were given; they share the giver's memory

  const std::string& graph_json() const { return plan.graph_json; }
  const NamedArrays& params() const { return plan.params; }
};

/// Throws DiagnosticError or Error for what is wrong with the program, NotSupported for a target that no
/// backend serves, InternalError for a bug of ours.
BuildResult build(const IRModule& module, const BuildOptions& options);

/// Plan and kernels of a module that the passes have been over: `optimized` as prepare_kernels() leaves it.
/// Its result has no origins_json; the nodes of the plan have their origins.
BuildResult build_prepared(const IRModule& optimized, const BuildOptions& options);

/// Runs what was built.
std::unique_ptr<Executor> make_executor(const BuildResult& result);

/// "llvm", "llvm, mirror": what reports and artifacts say.
std::string targets_text(const std::vector<TargetRef>& targets);

/// One file that runs without the compiler. Throws Error when it cannot be written, or when no linker made
/// kernels_so. Without `origins` it says no more which operators its kernels compute.
void write_artifact(const BuildResult& result, const std::string& path, bool origins = true);

/// What build() makes its plan from: `typed` with parameters bound, optimized and fused, regions built by
/// their compilers.
IRModule optimized_for_build(const IRModule& typed, const BuildOptions& options);

/// `main` with the parameters of those names replaced by constants. Throws Error when a type does not fit.
IRModule bind_params(const IRModule& module, const NamedArrays& params);

}  // namespace baton
