#pragma once
// Ctrl-C during C++ work. Python's own handler only sets a flag read between Python instructions; so SIGINT
// also sets a flag that long-running work polls.
#include <atomic>

#include "baton/support/interrupt.h"

#include "python/casters.h"

namespace baton::python {

/// RAII: while the outermost instance is alive, SIGINT sets flag() too. Only on the main thread, where Python
/// handles signals, and only if the program neither ignores SIGINT nor uses its default action.
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

/// Raises the exception of Python's signal handlers, KeyboardInterrupt if there is none. Requires the GIL.
[[noreturn]] void raise_interrupt();

/// Runs work(stop) without the GIL; converts Interrupted to KeyboardInterrupt.
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
