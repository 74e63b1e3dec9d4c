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

/// Throws Interrupted once `*stop` is true. Null: nobody can ask.
inline void stop_if_asked(const std::atomic<bool>* stop) {
  if (stop && *stop) throw Interrupted("interrupted");
}

}  // namespace baton
