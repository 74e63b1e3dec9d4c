#pragma once
// One lock per machine and user: two measurements never run at the same time. Whatever measures for a store
// holds it for one job.
#include <string>

namespace baton {

/// $BATON_MACHINE_LOCK, else baton-machine.lock in $XDG_RUNTIME_DIR, else in /tmp with the user's number.
std::string machine_lock_path();

class MachineLock {
 public:
  /// Waits for the lock. Throws Error when its file cannot be opened, or belongs to somebody else.
  explicit MachineLock(const std::string& path = machine_lock_path());
  ~MachineLock();
  MachineLock(const MachineLock&) = delete;
  MachineLock& operator=(const MachineLock&) = delete;

 private:
  int file_;
};

}  // namespace baton
