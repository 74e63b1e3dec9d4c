#pragma once
// Attributes that record which external compiler's region a kernel belongs to.
#include <string>

#include "baton/ir/expr.h"

namespace baton {

/// The kernel with the attributes of a region (its symbol) compiled by `compiler`.
Function of_region(const Function& kernel, const std::string& compiler, const std::string& region);
/// The region of a kernel, e.g. "tvmgen_default_cuda_main_0"; "" for none.
std::string region_of(const FunctionNode& kernel);
/// The compiler of a kernel's region, e.g. "cuda"; "" for none.
std::string compiler_of(const FunctionNode& kernel);

/// The kernel without these attributes, so that equal kernels are compiled once across regions.
Function without_region(const Function& kernel);

}  // namespace baton
