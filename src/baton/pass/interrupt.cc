#include "baton/pass/interrupt.h"

namespace baton {

namespace {
thread_local const std::atomic<bool>* current = nullptr;
}

InterruptibleScope::InterruptibleScope(const std::atomic<bool>* stop) : before_(current) {
  if (stop) current = stop;
}

InterruptibleScope::~InterruptibleScope() { current = before_; }

const std::atomic<bool>* current_interrupt() { return current; }

void stop_if_asked() {
  if (current && *current) throw Interrupted("interrupted");
}

}  // namespace baton
