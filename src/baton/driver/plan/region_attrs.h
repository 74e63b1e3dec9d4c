#pragma once
// Attributes of functions by name, and those that say which region of another compiler a kernel belongs to.
#include <set>
#include <string>

#include "baton/ir/expr.h"

namespace baton {

/// A text attribute of the function; "" when it has none of that name.
std::string text_attr(const FunctionNode& function, const char* name);
/// The function without those attributes; itself when it has none of them.
Function without_attrs(const Function& function, const std::set<std::string>& names);

/// The kernel, as one of that region (its symbol) that `compiler` built.
Function of_region(const Function& kernel, const std::string& compiler, const std::string& region);
/// "tvmgen_default_cuda_main_0" for a kernel of that region, else "".
std::string region_of(const FunctionNode& kernel);
/// "cuda" for a kernel of a region of that compiler, else "".
std::string compiler_of(const FunctionNode& kernel);

/// A kernel without these attributes: equal kernels are compiled once, wherever they stand.
Function without_region(const Function& kernel);

}  // namespace baton
