#pragma once
// An executor as held by Python.
#include <memory>
#include <mutex>

#include "baton/runtime/executor.h"

namespace baton::python {

/// An executor guarded by a lock.
class Running {
 public:
  explicit Running(std::shared_ptr<Executor> executor);

  Executor& executor() { return *executor_; }

  /// Acquire it without the GIL; otherwise it deadlocks with a thread that holds it and waits for the GIL.
  std::unique_lock<std::mutex> lock();

  double last_run_ns = 1e18;  ///< unknown counts as long

 private:
  std::shared_ptr<Executor> executor_;
  uint64_t forks_;
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
};

std::shared_ptr<Running> run_here(std::unique_ptr<Executor> executor);

}  // namespace baton::python
