#pragma once
// Ctrl-C while C++ works. Python's own handler only makes a note that the interpreter reads between two of
// its instructions; so SIGINT also sets a flag that long work looks at.
#include <atomic>

#include "baton/pass/interrupt.h"

#include "python/casters.h"

namespace baton::python {

/// While the outermost one lives, SIGINT sets flag() too. Armed on the main thread only, where Python handles
/// signals, and not where the program ignores SIGINT or lets it kill.
class SigintFlag {
 public:
  SigintFlag();
  ~SigintFlag();
  SigintFlag(const SigintFlag&) = delete;
  SigintFlag& operator=(const SigintFlag&) = delete;

  static const std::atomic<bool>* flag();

 private:
  bool armed_ = false, counted_ = false;
};

/// Raises what Python's handlers for the signal raise, KeyboardInterrupt if they raise nothing. With the GIL.
[[noreturn]] void raise_interrupt();

/// work(stop) without the GIL; when it throws Interrupted, Python gets KeyboardInterrupt.
template <class Work>
auto interruptible(Work work) -> decltype(work(SigintFlag::flag())) {
  try {
    const SigintFlag sigint;
    const nb::gil_scoped_release release;
    return work(SigintFlag::flag());
  } catch (const Interrupted&) {
  }
  raise_interrupt();
}

}  // namespace baton::python
