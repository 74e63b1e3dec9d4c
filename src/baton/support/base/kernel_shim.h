// The object file and the source of kernel_shim.c, embedded when Baton is built.
#pragma once

#include <span>
#include <string_view>

namespace baton {

/// A relocatable ELF object, linked with kernels' objects into shared libraries.
std::span<const unsigned char> kernel_shim_object();

/// C without includes of Baton's, for compilers of other processors.
std::string_view kernel_shim_source();

}  // namespace baton
