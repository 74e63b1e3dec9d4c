#pragma once
// Long work that Ctrl-C stops.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "casters.h"

namespace baton::python {

/// Runs `work(interrupt)` on a thread of its own while this one, which holds the GIL, looks for signals 20 times a second.
/// What `work` throws is thrown here; after a signal handler's exception (KeyboardInterrupt), that. `work` must not need
/// what belongs to this thread: contexts, Python.
template <class Work>
void run_interruptible(Work&& work) {
  std::atomic<bool> interrupt = false;
  std::exception_ptr thrown;
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  std::thread worker([&] {
    try {
      work(interrupt);
    } catch (...) {
      thrown = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    done = true;
    ended.notify_one();
  });
  std::exception_ptr signalled;
  for (bool finished = false; !finished;) {
    {
      const nb::gil_scoped_release unlocked;
      std::unique_lock lock(mutex);
      finished = ended.wait_for(lock, std::chrono::milliseconds(50), [&] { return done; });
    }
    if (!finished && !signalled && PyErr_CheckSignals() != 0) {
      signalled = std::make_exception_ptr(nb::python_error());
      interrupt = true;
    }
  }
  worker.join();
  if (signalled) std::rethrow_exception(signalled);
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace baton::python
