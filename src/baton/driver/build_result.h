#pragma once
// The result of a build. Serialized only for artifacts, Python and JSON output.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "baton/codegen/backend.h"
#include "baton/driver/origins/operator_record.h"
#include "baton/driver/plan/plan.h"
#include "baton/ir/module.h"
#include "baton/runtime/kernel_library.h"
#include "baton/runtime/vm/program.h"
#include "baton/support/base/params_blob.h"

namespace baton {

/// Seconds per phase. `choose_s`: looking for schedules that a tuner kept.
struct BuildTimes {
  double optimize_s = 0, plan_s = 0, choose_s = 0, kernels_s = 0, link_s = 0, total_s = 0;
};

/// The code of one backend, loaded by its runtime half.
struct BackendCode {
  std::string backend;         ///< Backend::name
  std::string plugin;          ///< Backend::plugin_name()
  std::string blob;            ///< the host's: a shared library; empty without a linker
  std::string target;          ///< what it is for: DeviceSheet::code_target
  NamedArrays constants = {};  ///< packed constants
  std::shared_ptr<const KernelLibrary> library = {};  ///< loaded already; null unless it runs here as it is
};

struct BuildResult {
  IRModule source;     ///< the input module, parameters not bound
  IRModule optimized;  ///< the fused module that the plan was made from
  GraphPlan plan;      ///< execution order and constants, and the compiler's facts about each node
  std::string mod_name;
  std::string precision;             ///< "f32", "strict", "bf16": of the pass config
  std::vector<TargetRef> targets;    ///< the targets of the build; the first is the default
  std::vector<BuiltKernel> kernels;  ///< the kernels called by the plan, in order
  /// The host's first, then of the other backends in the order of their first kernel. Empty after
  /// plan_build().
  std::vector<BackendCode> code;
  std::optional<OriginReport> origins;  ///< every operator of the source; none after build_prepared()
  /// Kernel -> fused function, then "__tvm_main__".
  std::vector<std::pair<std::string, Function>> function_metadata;
  /// Of build_program(): what machines run, and the operators that they have the compiler evaluate. `plan`
  /// then lists the calls of kernels. Null: `plan` is what runs.
  std::shared_ptr<const vm::Program> program = {};
  std::vector<Function> operators = {};
  BuildTimes times;
  NamedArrays given;  ///< the given parameters; memory is shared with the caller

  const NamedArrays& params() const { return plan.params; }
  const BackendCode& host_code() const { return code.at(0); }
  /// All code but the host's.
  std::span<const BackendCode> device_code() const { return std::span(code).subspan(1); }
};

/// "llvm", "llvm, mirror": as shown in reports and artifacts.
std::string targets_text(const std::vector<TargetRef>& targets);

}  // namespace baton
