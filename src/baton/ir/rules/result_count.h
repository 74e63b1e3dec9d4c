#pragma once
// The number of result tensors of operators that return tuples: Python's builders unpack the tuple before
// types are inferred.
#include <cstdint>
#include <optional>

#include "baton/ir/expr.h"

namespace baton {

/// Attached to operators whose result is, or can be, a tuple.
struct ResultCount {
  int64_t always = 0;
  /// For counts that depend on attributes or a tuple argument. Nullopt: the call returns one tensor, not a
  /// tuple. UsageError when the count cannot be determined.
  std::optional<int64_t> (*of)(const CallNode& call) = nullptr;
};

/// The number of fields of the tuple that `call` returns; nullopt when it returns no tuple.
std::optional<int64_t> result_count(const CallNode& call);

}  // namespace baton
