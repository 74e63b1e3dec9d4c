#pragma once
// One measurement at a time on a machine: a file that processes lock.
#include <atomic>
#include <functional>
#include <string>

namespace baton {

/// RAII: holds the lock of this machine and user, which ends with the process at the latest.
class MachineLock {
 public:
  MachineLock() = default;
  ~MachineLock() { release(); }
  MachineLock(const MachineLock&) = delete;
  MachineLock& operator=(const MachineLock&) = delete;

  /// Waits until no other process holds it. `waiting`: called at once and every ten seconds while it waits,
  /// with the seconds so far. False: interrupted, or the reason is in error().
  bool acquire(const std::atomic<bool>* interrupt, const std::function<void(double waited_s)>& waiting = {});
  void release();
  bool held() const { return descriptor_ >= 0; }
  const std::string& error() const { return error_; }

  /// $BATON_MEASURE_LOCK, else a file of this user in /tmp.
  static std::string path();

 private:
  int descriptor_ = -1;
  std::string error_;
};

}  // namespace baton
