#pragma once
// What a build makes: values. They become text in an artifact, in Python and where JSON is asked for.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "baton/codegen/backend.h"
#include "baton/driver/origins/operator_record.h"
#include "baton/driver/plan/plan.h"
#include "baton/ir/module.h"
#include "baton/runtime/kernel_library.h"
#include "baton/support/base/params_blob.h"

namespace baton {

/// Seconds per phase.
struct BuildTimes {
  double optimize_s = 0, plan_s = 0, kernels_s = 0, link_s = 0, total_s = 0;
};

/// What a backend beside the host's made: its run half loads it.
struct BackendCode {
  std::string backend;  ///< Backend::name
  std::string blob;
  NamedArrays constants;  ///< what it packed
};

struct BuildResult {
  IRModule source;     ///< the module as it was given, parameters not bound
  IRModule optimized;  ///< fused; what the plan was made from
  GraphPlan plan;      ///< what runs when, constants, and what the compiler knows of each node
  std::string mod_name;
  std::vector<TargetRef> targets;                ///< what it was built for; the first is the default
  std::vector<BuiltKernel> kernels;              ///< those that the plan calls, in order
  std::string kernels_so;                        ///< the host's; empty where there is no linker
  std::shared_ptr<const KernelLibrary> library;  ///< the same, loaded
  std::vector<BackendCode> code;        ///< of the other backends, in the order of their first kernel
  std::optional<OriginReport> origins;  ///< every operator of the source; none after build_prepared()
  /// Kernel -> fused function, then "__tvm_main__".
  std::vector<std::pair<std::string, Function>> function_metadata;
  BuildTimes times;
  NamedArrays given;  ///< the parameters as they were given; they share the giver's memory

  const NamedArrays& params() const { return plan.params; }
};

/// "llvm", "llvm, mirror": what reports and artifacts say.
std::string targets_text(const std::vector<TargetRef>& targets);

}  // namespace baton
