#pragma once
// What depends on input values: shapes of results, and what a call stands for. Attached through OpDef::rules,
// read by evaluators of calls whose type has a `?`.
#include <cstdint>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/support/base/ndarray.h"

namespace baton {

struct BuildContext;

struct ShapeRule {
  /// One shape per output of the operator, tuples flattened like the inputs. Throws NotSupported for invalid
  /// values.
  std::vector<std::vector<int64_t>> (*shapes)(const Attrs& attrs,
                                              const std::vector<NDArray>& inputs) = nullptr;
};

/// For operators that become others once the values of their arguments are known.
struct RunTimeRule {
  /// What the call, whose arguments are constants, stands for; typed, and computed as far as constants go.
  /// Throws Error for values that it cannot have.
  Expr (*expand)(const CallNode& call, const BuildContext& context) = nullptr;
};

/// The type, without `?`, of a typed operator call on these values. Throws NotSupported when it cannot be
/// determined.
Type static_result_type(const CallNode& call, const std::vector<NDArray>& inputs);

/// The elements of an array of integers (or bools). Throws NotSupported for other types.
std::vector<int64_t> integers_of(const NDArray& array);

}  // namespace baton
