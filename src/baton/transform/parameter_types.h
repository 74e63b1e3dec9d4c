#pragma once
// Functions for parameters of other types.
#include <string>
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

/// `function` with new parameters of these types, one for each; null: the type that the parameter has. What
/// follows from them, in the function and in functions inside, is to be inferred again. Constant shape
/// attributes (reshape) are not changed.
Function with_parameter_types(const Function& function, const std::vector<Type>& types);

/// A tensor type with another extent along `axis`, which counts from the back when it is negative. Throws
/// UsageError, which begins with `what`, for a type without such an axis.
Type with_extent(const Type& type, int64_t axis, Dim extent, const std::string& what);

}  // namespace baton
