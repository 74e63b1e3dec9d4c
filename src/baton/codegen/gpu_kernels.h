#pragma once
// What the backends for GPUs share at compile time: kernels for which Halide generates device code, in a blob
// for their plug-ins (runtime/gpu/device_code.h), and what is known of a device without asking a driver.
#include <functional>
#include <string>

#include "baton/codegen/backend.h"
#include "baton/runtime/gpu/device_code.h"

namespace baton {

/// The sheet of a GPU that the machine that compiles need not have. `code_target`: Halide's target.
DeviceSheet gpu_sheet(const DeviceSheet& host, const std::string& kind, int device_type,
                      const std::string& name, const std::string& code_target);

/// The first answer of `refuses` that is not empty, for the types of a function's parameters and operators.
std::string refused_type(const FunctionNode& function,
                         const std::function<std::string(const TensorTypeNode& type)>& refuses);

/// Compiles each function by the GPU templates: that of the context's choice where it names one, else the
/// first that takes it.
Built compile_gpu_kernels(std::span<const BackendFunction> functions, const DeviceSheet& sheet,
                          const BuildContext& context, const DeviceCodeFormat& format);

/// The schedules that compile_gpu_kernels() would choose.
std::vector<KernelSchedule> gpu_schedules(std::span<const BackendFunction> functions,
                                          const DeviceSheet& sheet, const BuildContext& context);

/// Layouts for plain sums of products: Winograd's transforms would be many short launches.
std::shared_ptr<const KernelChoice> gpu_layouts();

/// The source text of every kernel in a blob, one after the other. Error when it is damaged.
std::string gpu_source(const std::string& blob, const DeviceCodeFormat& format);

}  // namespace baton
