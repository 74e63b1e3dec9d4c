#pragma once
// One lock per machine and user: two measurements never run at the same time. Whatever measures for a store
// holds it for one job.
#include <functional>
#include <string>

namespace baton {

/// $BATON_MACHINE_LOCK, else baton-machine.lock in $XDG_RUNTIME_DIR, else in /tmp with the user's number.
std::string machine_lock_path();

class MachineLock {
 public:
  /// Waits for the lock. Throws Error when its file cannot be opened, or belongs to somebody else.
  /// `waiting`: asked ten times a second while another process has it; false: give up, which is an Error.
  explicit MachineLock(const std::string& path = machine_lock_path(),
                       const std::function<bool(double waited_s)>& waiting = {});
  ~MachineLock();
  MachineLock(const MachineLock&) = delete;
  MachineLock& operator=(const MachineLock&) = delete;

 private:
  int file_;
};

}  // namespace baton
