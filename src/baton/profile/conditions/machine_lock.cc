#include "baton/profile/conditions/machine_lock.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace baton {

namespace {
constexpr double kAskAgainS = 0.1, kTellAgainS = 10;
}

std::string MachineLock::path() {
  if (const char* given = std::getenv("BATON_MEASURE_LOCK"); given && *given) return given;
  return "/tmp/baton-measuring-" + std::to_string(getuid()) + ".lock";
}

bool MachineLock::acquire(const std::atomic<bool>* interrupt,
                          const std::function<void(double waited_s)>& waiting) {
  if (held()) return true;
  const std::string file = path();
  const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0) {
    error_ = file + ": the lock for measuring cannot be opened: " + std::strerror(errno);
    return false;
  }
  double waited_s = 0, told_s = -kTellAgainS;
  while (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      error_ = file + ": cannot be locked: " + std::strerror(errno);
      close(descriptor);
      return false;
    }
    if (interrupt && *interrupt) {
      close(descriptor);
      return false;
    }
    if (waiting && waited_s - told_s >= kTellAgainS) {
      waiting(waited_s);
      told_s = waited_s;
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(kAskAgainS));
    waited_s += kAskAgainS;
  }
  descriptor_ = descriptor;
  return true;
}

void MachineLock::release() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
}

}  // namespace baton
