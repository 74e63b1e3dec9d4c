#pragma once
// How many tensors a call of an operator gives, for those whose result is a tuple: Python's builders unpack
// it before any type is inferred.
#include <cstdint>
#include <optional>

#include "baton/ir/expr.h"

namespace baton {

/// Carried by operators whose result is, or can be, a tuple.
struct ResultCount {
  int64_t always = 0;
  /// Where attributes or the tuple given decide. Nothing: this call gives one tensor, no tuple. UsageError
  /// where it cannot be seen.
  std::optional<int64_t> (*of)(const CallNode& call) = nullptr;

  std::optional<int64_t> operator()(const CallNode& call) const {
    return of ? of(call) : std::optional(always);
  }
};

}  // namespace baton
