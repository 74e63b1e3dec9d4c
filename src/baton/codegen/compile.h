#pragma once
// One kernel request -> object code, or a function in memory. Thread safe. No Halide in the interface.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "baton/codegen/kernel/code_shape.h"
#include "baton/codegen/kernel/kernel.h"
#include "baton/runtime/kernel_library.h"
#include "baton/schedule/kernel_choice.h"
#include "baton/target/device_sheet.h"

namespace baton {

/// Fills in the cost facts, from the function's types.
void add_facts(Kernel& kernel, const FunctionNode& function);

/// Compiles to object code. Throws NotSupported for functions that cannot be lowered, InternalError for
/// errors of Halide.
Kernel compile_kernel(const KernelRequest& request, const DeviceSheet& sheet);

/// The same for several at once, in less time: LLVM takes some 15 ms for a module, however small. Each has
/// the bytes that compile_kernel() gives it.
std::vector<Kernel> compile_together(std::span<const KernelRequest> requests, const DeviceSheet& sheet);

/// The same as a function in memory, by Halide's JIT; used without a linker. `keep_alive` owns the code.
struct JitKernel {
  KernelFunction function = nullptr;
  std::shared_ptr<void> keep_alive;
};
JitKernel jit_kernel(const KernelRequest& request, const DeviceSheet& sheet);

/// The template and parameters that compile_kernel() would use.
KernelSchedule chosen_schedule(const KernelRequest& request, const DeviceSheet& sheet);

/// Object code, assembly text with labels named after loops, and the meaning of these, all from one
/// compilation.
KernelListing kernel_listing(const KernelRequest& request, const DeviceSheet& sheet);

}  // namespace baton
