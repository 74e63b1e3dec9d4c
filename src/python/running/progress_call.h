#pragma once
// Progress of long C++ work, told to a Python function.
#include <exception>
#include <optional>

#include "python/running/interruptible.h"

namespace baton::python {

/// Calls `progress(phase, done, total, seconds left or None)`, if it is not None, from work without the GIL.
/// What it raises sets flag(), and is rethrown by finish().
class ProgressCall {
 public:
  /// `stop`: that of Ctrl-C.
  ProgressCall(const nb::object& progress, const std::atomic<bool>* stop)
      : progress_(progress), stop_(stop) {}

  void operator()(const std::string& phase, int done, int total, std::optional<double> seconds_left) {
    if (progress_.is_none()) return;
    if (*stop_) raised_ = true;
    if (raised_) return;
    const nb::gil_scoped_acquire lock;
    try {
      progress_(phase, done, total, seconds_left);
    } catch (...) {
      error_ = std::current_exception();
      raised_ = true;
    }
  }

  /// Ends the work when it is set.
  const std::atomic<bool>* flag() const { return progress_.is_none() ? stop_ : &raised_; }
  /// Whether `progress` raised.
  bool failed() const { return error_ != nullptr; }
  void finish() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  const nb::object& progress_;
  const std::atomic<bool>* stop_;
  std::exception_ptr error_;
  std::atomic<bool> raised_{false};
};

}  // namespace baton::python
