#pragma once
// From a status, as code without exceptions returns it, to an exception.
#include <utility>

#include "baton/support/base/status.h"
#include "baton/support/error.h"

namespace baton {

/// Throws Error with the message of a status that is not ok.
inline void require(const Status& status) {
  if (!status.ok()) throw Error(status.message);
}

/// The value of a result; throws Error with its message when there is none.
template <class T>
T require(Result<T> result) {
  require(result.status());
  return std::move(*result);
}

}  // namespace baton
