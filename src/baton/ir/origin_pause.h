#pragma once
// For callbacks of the user's that a pass of ours runs outside of any pass: what they build is the user's own
// program.
#include "baton/ir/origin.h"

namespace baton {

/// While it lives, no OriginScope is open on this thread, unless it is opened meanwhile: calls of operators
/// get origins of their own. Only where no pass is running; passes make no origins.
class OriginPause {
 public:
  OriginPause();
  ~OriginPause();
  OriginPause(const OriginPause&) = delete;
  OriginPause& operator=(const OriginPause&) = delete;

 private:
  OriginScope* paused_;
};

}  // namespace baton
