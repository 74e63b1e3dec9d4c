// The object file of kernel_shim.c, embedded when Baton is built.
#pragma once

#include <span>

namespace baton {

/// A relocatable ELF object, linked with kernels' objects into shared libraries.
std::span<const unsigned char> kernel_shim_object();

}  // namespace baton
