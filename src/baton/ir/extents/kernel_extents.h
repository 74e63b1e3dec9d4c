#pragma once
// The symbolic extents of a function that becomes a kernel: which there are, and the function at given ones.
#include <span>
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

/// The distinct variables of extents in the types of `function`, in order of first use: those of its
/// parameters in order (tuples flattened), then of its result. These are arguments of its kernel, as int32,
/// between inputs and outputs. `function`: typed.
std::vector<Dim> kernel_extents(const FunctionNode& function);

/// `function`, whose calls are typed, with a number for each of its kernel_extents(): all its types are
/// static where these are its only variables, and have no `?`. Attributes are as they were. The bytes that a
/// kernel of it computes are those of the symbolic one at these extents. UsageError unless there are as many
/// numbers as extents.
Function at_extents(const FunctionNode& function, std::span<const int64_t> numbers);

/// `function` with other extents for its variables; itself where it has none.
Function replace_extent_vars(const Function& function, FunctionRef<Dim(Dim)> value);

/// The `i`-th variable of extents of kernels, whatever their names in programs; as many as a kernel has.
Dim numbered_extent(int i);
/// The inverse; -1 for other extents.
int extent_number(Dim var);
/// `function` with numbered_extent(i) for the i-th of its kernel_extents(): functions that differ only in the
/// names of variables become equal. Throws NeedsNumbers where a type has `?`, or a variable that is in no
/// parameter and not in the result: nothing gives its value.
Function with_numbered_extents(const Function& function);

}  // namespace baton
