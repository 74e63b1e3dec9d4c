#pragma once
// Builds programs with control flow, functions, data types and open shapes for the virtual machine.
#include "baton/driver/build.h"

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

}  // namespace baton
