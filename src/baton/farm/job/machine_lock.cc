#include "baton/farm/job/machine_lock.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "baton/support/base/environment.h"
#include "baton/support/error.h"

namespace baton {

namespace {
constexpr double kAskAgainS = 0.1;
}

std::string machine_lock_path() {
  const std::shared_ptr<const Environment> given = environment();
  if (!given->machine_lock.empty()) return given->machine_lock;
  if (!given->runtime_dir.empty() && access(given->runtime_dir.c_str(), W_OK) == 0)
    return given->runtime_dir + "/baton-machine.lock";
  return "/tmp/baton-machine-" + std::to_string(getuid()) + ".lock";
}

MachineLock::MachineLock(const std::string& path, const std::function<bool(double waited_s)>& waiting)
    : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) {
  struct stat about;
  if (file_ < 0 || fstat(file_, &about) != 0) {
    const std::string why = std::strerror(errno);
    if (file_ >= 0) ::close(file_);
    throw Error("cannot open this machine's lock `" + path + "`: " + why +
                " (BATON_MACHINE_LOCK names another file)");
  }
  if (about.st_uid != getuid()) {  // /tmp is everybody's
    ::close(file_);
    throw Error("this machine's lock `" + path +
                "` belongs to another user: name a file of your own with BATON_MACHINE_LOCK");
  }
  double waited_s = 0;
  while (flock(file_, waiting ? LOCK_EX | LOCK_NB : LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK && waiting(waited_s)) {
      usleep(static_cast<useconds_t>(kAskAgainS * 1e6));
      waited_s += kAskAgainS;
      continue;
    }
    const std::string why = std::strerror(errno);
    ::close(file_);
    throw Error("cannot lock `" + path + "`: " + why);
  }
}

MachineLock::~MachineLock() { ::close(file_); }

}  // namespace baton
