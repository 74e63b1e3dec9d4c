#pragma once
// Kernel keys and symbols: identify a kernel in memory, in the cache on disk, and in linked libraries.
#include <string>

#include "baton/codegen/kernel/kernel.h"
#include "baton/target/device_sheet.h"

namespace baton {

/// A digest of everything that determines the code: the function, processor, template, parameters, variant,
/// Halide's version, and the sources of ops, schedule and codegen. Of 128 bits and over the canonical form of
/// the function, so that equal keys mean equal code and need no further comparison.
KernelKey kernel_key(const KernelRequest& request, const DeviceSheet& sheet);
/// "baton_k" and the key in hexadecimal: the symbol of the kernel and the prefix of its Funcs' names.
std::string kernel_symbol(const KernelKey& key);

}  // namespace baton
