// The processor as a backend: the table of baton_backend.h over the runtime's own memory and kernels.
#pragma once

#include <memory>

#include "baton/runtime/kernel_library.h"
#include "baton/runtime/plugin.h"

namespace baton {

/// DLPack's number of the processor.
inline constexpr int kProcessorKind = 1;

/// One device of kProcessorKind. Its handles are addresses, its queues are done at once.
const Plugin& processor();

/// The kernels of a library as code of the processor; null has none.
std::shared_ptr<const PluginModule> processor_module(std::shared_ptr<const KernelLibrary> kernels);

/// A kernel of the processor as bound code, and back; null for code of other backends.
baton_bound bind_kernel(KernelFunction kernel);
KernelFunction bound_kernel(const baton_bound& bound);

}  // namespace baton
