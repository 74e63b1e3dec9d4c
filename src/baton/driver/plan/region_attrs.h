#pragma once
// Attributes that record which external compiler's region a kernel belongs to, or why it is of none.
#include <string>

#include "baton/ir/expr.h"

namespace baton {

/// Why the region of a kernel was refused.
inline constexpr const char* kFallback = "fallback";

/// The kernel with the attributes of a region (its symbol) compiled by `compiler`.
Function of_region(const Function& kernel, const std::string& compiler, const std::string& region);
/// The region of a kernel, e.g. "tvmgen_default_cuda_main_0"; "" for none.
std::string region_of(const FunctionNode& kernel);
/// The compiler of a kernel's region, e.g. "cuda"; "" for none.
std::string compiler_of(const FunctionNode& kernel);

/// The kernel of a region that its compiler refused, and why it did.
Function of_refused_region(const Function& kernel, const std::string& why);
/// The reason of of_refused_region(); "" for others.
std::string refusal_of_region(const FunctionNode& kernel);

/// The kernel without these attributes, so that equal kernels are compiled once across regions.
Function without_region(const Function& kernel);

}  // namespace baton
