#include "baton/support/base/files.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "baton/support/base/environment.h"

namespace baton {
namespace {

std::string system_error(const std::string& what) { return what + ": " + std::strerror(errno); }

Status why() { return Status::io(std::strerror(errno)); }

Status write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), std::min(bytes.size(), size_t{1} << 30));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return why();
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return Status::success();
}

// mkostemp creates files with mode 0600; this applies the umask's default mode.
bool make_readable(int descriptor) {
  const mode_t mask = umask(0);
  umask(mask);
  return fchmod(descriptor, 0666 & ~mask) == 0;
}

}  // namespace

Result<std::string> read_file(const std::string& path, size_t most) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return why();
  struct stat about;
  const bool sized = fstat(descriptor, &about) == 0 && about.st_size > 0;
  // One byte more than the file size, so that the read detects the end.
  std::string bytes(std::min(most, sized ? static_cast<size_t>(about.st_size) + 1 : 4096), '\0');
  Status status = Status::success();
  size_t have = 0;
  while (have < most) {
    if (have == bytes.size()) bytes.resize(std::min(most, 2 * have));
    const ssize_t got = read(descriptor, bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) status = why();
    if (got <= 0) break;
    have += static_cast<size_t>(got);
  }
  bytes.resize(have);
  close(descriptor);
  if (!status.ok()) return status;
  return bytes;
}

Status replace_file(const std::string& path, std::initializer_list<std::string_view> parts) {
  constexpr std::string_view kEnd = ".partial";
  std::string partial = path + "-XXXXXX" + std::string(kEnd);
  const int descriptor = mkostemps(partial.data(), static_cast<int>(kEnd.size()), O_CLOEXEC);
  if (descriptor < 0) return why();
  Status status = Status::success();
  for (const std::string_view part : parts)
    if (status.ok()) status = write_all(descriptor, part);
  if (status.ok() && !make_readable(descriptor)) status = why();
  if (close(descriptor) != 0 && status.ok()) status = why();
  if (status.ok() && rename(partial.c_str(), path.c_str()) != 0) status = why();
  if (!status.ok()) unlink(partial.c_str());
  return status;
}

TemporaryFile::~TemporaryFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!path_.empty()) unlink(path_.c_str());
}

Status TemporaryFile::create(const std::string& target) {
  // A rename would replace a device or a pipe by a file.
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
  if (!write_all(descriptor_, {static_cast<const char*>(data), bytes}).ok()) return failed();
  position_ += bytes;
  return Status::success();
}

Status TemporaryFile::keep() {
  if (!make_readable(descriptor_) || fsync(descriptor_) != 0) return failed();
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

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Status TemporaryFolder::create(const std::string& name) {
  const std::string base = temporary_folder();
  std::string path = base + "/baton-" + name + "-XXXXXX";
  if (!mkdtemp(path.data())) return Status::io(system_error("cannot create a folder in `" + base + "`"));
  path_ = path;
  return Status::success();
}

Status TemporaryFolder::write(const std::string& file, std::string_view bytes) const {
  const Status status = replace_file(path(file), {bytes});
  if (status.ok()) return status;
  return Status::io("cannot write `" + path(file) + "` (" + status.message + "): is the disk full?");
}

}  // namespace baton
