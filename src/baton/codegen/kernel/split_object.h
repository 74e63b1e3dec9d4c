#pragma once
// Kernels that were compiled together, as object files of their own.
#include <optional>
#include <string>
#include <string_view>

namespace baton {

/// The object file of one kernel, cut from one of several: the functions whose names begin with `symbol`, in
/// their order, each in a section of its own, and the constants that these refer to. It does not depend on
/// what else is in `object`, so that a kernel has the same bytes whatever it was compiled with.
///
/// Takes objects as LLVM writes them for x86-64 (ELF, a section per function, relocations with addends).
/// Nothing for others, and where the kernel refers to something else that `object` defines: a function that
/// several kernels call, or data without a size. Compile such a kernel by itself.
std::optional<std::string> split_object(std::string_view object, std::string_view symbol);

}  // namespace baton
