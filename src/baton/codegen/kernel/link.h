// Links the object files of kernels into one shared library with an available linker.
#pragma once

#include <span>
#include <string>

#include "baton/support/base/status.h"

namespace baton {

/// Links `objects` (paths) and the kernel shim into the shared library `output`, by `ld`, else by `cc`, `gcc`
/// or `clang`; the environment variable BATON_LINKER names another. The output is written atomically.
/// kUnavailable when there is no linker: use Halide's JIT then.
Status link_kernels(std::span<const std::string> objects, const std::string& output);

/// The path of the linker that link_kernels would use; empty when there is none.
std::string find_linker();

}  // namespace baton
