#pragma once
// What names a kernel: in memory, in the cache on disk, and in the libraries that it is linked into.
#include <cstdint>
#include <string>

#include "baton/codegen/kernel/kernel.h"
#include "baton/target/device_sheet.h"

namespace baton {

/// Names everything that decides what code comes out, beside the function: processor, template, parameters,
/// variant, Halide's version, and a hash of the sources of ops, schedule and codegen.
uint64_t kernel_key(const KernelRequest& request, const DeviceSheet& sheet);
/// "baton_k" and the key in hexadecimal: the symbol of the kernel and the first part of the names of its
/// Funcs.
std::string kernel_symbol(uint64_t key);

}  // namespace baton
