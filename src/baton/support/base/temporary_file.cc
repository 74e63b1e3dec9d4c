#include "baton/support/base/temporary_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace baton {
namespace {

std::string system_error(const std::string& what) { return what + ": " + std::strerror(errno); }

}  // namespace

TemporaryFile::~TemporaryFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!path_.empty()) unlink(path_.c_str());
}

Status TemporaryFile::create(const std::string& target) {
  // A rename would put a file in the place of a device or a pipe.
  struct stat there;
  if (stat(target.c_str(), &there) == 0 && !S_ISREG(there.st_mode))
    return Status::io("cannot write `" + target + "`: it is there and is no regular file");
  path_ = target + ".XXXXXX";
  descriptor_ = mkostemp(path_.data(), O_CLOEXEC);
  if (descriptor_ < 0) {
    const std::string reason = system_error("cannot write `" + target + "`");
    path_.clear();
    return Status::io(reason);
  }
  target_ = target;
  return Status::success();
}

Status TemporaryFile::append(const void* data, size_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor_, from, std::min(bytes, size_t{1} << 30));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return failed();
    from += written;
    bytes -= static_cast<size_t>(written);
    position_ += static_cast<size_t>(written);
  }
  return Status::success();
}

Status TemporaryFile::keep() {
  // mkostemp makes files for the owner only; ours are as readable as any other.
  const mode_t mask = umask(0);
  umask(mask);
  if (fchmod(descriptor_, 0666 & ~mask) != 0 || fsync(descriptor_) != 0) return failed();
  const int closed = close(descriptor_);
  descriptor_ = -1;
  if (closed != 0 || rename(path_.c_str(), target_.c_str()) != 0) return failed();
  path_.clear();
  return Status::success();
}

Status TemporaryFile::failed() const {
  return Status::io(system_error("cannot write `" + target_ + "`") +
                    (errno == ENOSPC ? "; free some space and try again" : ""));
}

}  // namespace baton
