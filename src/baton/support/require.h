#pragma once
// Converts a Status of exception-free code to an exception.
#include <utility>

#include "baton/support/base/status.h"
#include "baton/support/error.h"

namespace baton {

/// Throws Error with the message of a failed status.
inline void require(const Status& status) {
  if (!status.ok()) throw Error(status.message);
}

/// The value of a result; throws Error with its message on failure.
template <class T>
T require(Result<T> result) {
  require(result.status());
  return std::move(*result);
}

}  // namespace baton
