#pragma once
// The attributes that say which region of another compiler a kernel belongs to.
#include <string>

#include "baton/ir/expr.h"

namespace baton {

/// The kernel, as one of that region (its symbol) that `compiler` built.
Function of_region(const Function& kernel, const std::string& compiler, const std::string& region);
/// "tvmgen_default_cuda_main_0" for a kernel of that region, else "".
std::string region_of(const FunctionNode& kernel);
/// "cuda" for a kernel of a region of that compiler, else "".
std::string compiler_of(const FunctionNode& kernel);

/// A kernel without these attributes: equal kernels are compiled once, wherever they stand.
Function without_region(const Function& kernel);

}  // namespace baton
