// Links the object files of kernels into one shared library with an available linker.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "baton/support/base/status.h"

namespace baton {

/// Links `objects` (paths) and the kernel shim into the shared library `output`, by `ld`, else by `cc`, `gcc`
/// or `clang`; the environment variable BATON_LINKER names another. The output is written atomically.
/// kUnavailable when there is no linker: use Halide's JIT then.
Status link_kernels(std::span<const std::string> objects, const std::string& output);

/// The same for the machine of `code_target` ("arm-64-linux-..."), by a compiler of C for that machine:
/// `aarch64-linux-gnu-gcc`, or clang with a linker for it; the environment variable BATON_CROSS_CC names
/// another. kUnavailable when there is none: the message has the Debian package to install.
Status link_kernels_for(std::string_view code_target, std::span<const std::string> objects,
                        const std::string& output);

/// Whether code of that target is linked by link_kernels_for(): it is for another machine than this
/// process's.
bool is_cross(std::string_view code_target);

/// The path of the linker that link_kernels would use; empty when there is none.
std::string find_linker();

}  // namespace baton
