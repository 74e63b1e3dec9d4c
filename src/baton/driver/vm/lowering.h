#pragma once
// Lowers a fused program to one of the virtual machine.
#include "baton/driver/vm/lowered_program.h"

namespace baton::vm {

/// `module`: optimized, fused and typed.
LoweredProgram lower_program(const IRModule& module, const LoweringOptions& options);

}  // namespace baton::vm
