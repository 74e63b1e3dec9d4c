#pragma once
// How a user stops work that takes long: a flag that somebody else sets, looked at between two steps.
#include <atomic>

#include "baton/support/error.h"

namespace baton {

/// The user asked to stop.
class Interrupted : public Error {
 public:
  using Error::Error;
};

/// While it lives, passes of this thread end with Interrupted once `*stop` is true. Null changes nothing.
class InterruptibleScope {
 public:
  explicit InterruptibleScope(const std::atomic<bool>* stop);
  ~InterruptibleScope();
  InterruptibleScope(const InterruptibleScope&) = delete;
  InterruptibleScope& operator=(const InterruptibleScope&) = delete;

 private:
  const std::atomic<bool>* before_;
};

/// The flag of the innermost scope of this thread, or null.
const std::atomic<bool>* current_interrupt();

/// Throws Interrupted when the innermost scope of this thread was asked to stop.
void stop_if_asked();

}  // namespace baton
