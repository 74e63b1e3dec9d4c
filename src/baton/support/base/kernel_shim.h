// The object file of kernel_shim.c, as it was compiled when Baton was built.
#pragma once

#include <span>

namespace baton {

/// A relocatable ELF object, to be linked with the objects of kernels into one shared library.
std::span<const unsigned char> kernel_shim_object();

}  // namespace baton
