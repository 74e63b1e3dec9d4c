#pragma once
// The extents of results that depend on the inputs' values. Attached to operators through OpDef::rules, read
// by whoever runs a call whose type has a `?`.
#include <cstdint>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/support/base/ndarray.h"

namespace baton {

struct ShapeRule {
  /// One shape per output of the operator, tuples flattened like the inputs. Throws NotSupported when the
  /// values make no sense for the operator.
  std::vector<std::vector<int64_t>> (*shapes)(const Attrs& attrs,
                                              const std::vector<NDArray>& inputs) = nullptr;
};

/// The type of a typed call of an operator on these values, without a `?`. Throws NotSupported when nothing
/// says it.
Type static_result_type(const CallNode& call, const std::vector<NDArray>& inputs);

/// The elements of an array of integers (or bools). Throws NotSupported for other types.
std::vector<int64_t> integers_of(const NDArray& array);

}  // namespace baton
