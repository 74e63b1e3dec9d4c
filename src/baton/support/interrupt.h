#pragma once
// Cancellation of long-running work: a flag set by another thread or a signal handler, polled between steps.
#include <atomic>

#include "baton/support/error.h"

namespace baton {

/// Thrown when the user requested cancellation.
class Interrupted : public Error {
 public:
  using Error::Error;
};

/// Throws Interrupted when `*stop` is true. Null: cannot be cancelled.
inline void stop_if_asked(const std::atomic<bool>* stop) {
  if (stop && *stop) throw Interrupted("interrupted");
}

}  // namespace baton
