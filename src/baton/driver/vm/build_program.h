#pragma once
// Builds programs with control flow, functions, data types and open shapes for the virtual machine.
#include "baton/driver/build.h"
#include "baton/support/error.h"

namespace baton {

/// Like build(), for any program that the interpreter runs: `program` of the result is what a machine runs,
/// `plan` lists its kernels' calls for reports. `main`, the functions that no other one calls, but for those
/// with type parameters, and what they reach can be called. Kernels that devices cannot have, as their
/// extents are known at run time only, are the processor's, with a warning. Throws DiagnosticError or Error
/// for invalid programs, NotSupported under baton.strict_regions for such kernels.
BuildResult build_program(const IRModule& module, const BuildOptions& options);

/// All that build_program() knows before it makes code, as plan_build().
BuildResult plan_program(const IRModule& module, const BuildOptions& options);

/// build() where is_plan(), else build_program(). `module`: typed.
BuildResult build_plan_or_program(const IRModule& module, const BuildOptions& options);

/// Whether `main` is a plan: straight-line calls of kernels with constant extents, which build() takes.
bool is_plan(const IRModule& module);

/// Throws NotSupported, which says what of `module` only a run knows, where it is no plan as it is written
/// (passes make plans of some). `are`: "times are predicted", of plans alone.
void require_plan(const IRModule& module, const std::string& are);

/// What `work` returns, which needs a plan of `module`; where it fails because there is none, as
/// require_plan().
template <class Work>
auto for_plans(const IRModule& module, const std::string& are, Work work) {
  try {
    return work();
  } catch (const UsageError&) {
    throw;
  } catch (const Error&) {
    require_plan(module, are);
    throw;
  }
}

}  // namespace baton
