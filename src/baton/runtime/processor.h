// The CPU as a backend: implements baton_backend.h with the runtime's own memory and kernels.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "baton/runtime/kernel_library.h"
#include "baton/runtime/plugin.h"

namespace baton {

/// DLPack device type of the CPU.
inline constexpr int kProcessorKind = 1;

/// Has one device of kProcessorKind. Its handles are addresses, its queues are synchronous.
const Plugin& processor();

/// The kernels of a library as a CPU module; null for null.
std::shared_ptr<const PluginModule> processor_module(std::shared_ptr<const KernelLibrary> kernels);

/// Of `modules` that of a backend, as nodes and kernels name it (empty: the processor); null: there is none.
const PluginModule* find_module(std::span<const std::shared_ptr<const PluginModule>> modules,
                                const std::string& backend);

/// A CPU kernel as bound code, and back; null for code of other backends.
baton_bound bind_kernel(KernelFunction kernel);
KernelFunction bound_kernel(const baton_bound& bound);

}  // namespace baton
