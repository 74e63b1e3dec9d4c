#pragma once
// Files: read whole, replaced whole; and folders that live for a while.
//
// Where a Status here says only why ("No such file or directory"), the caller knows which file it was and
// what to do.
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

#include "baton/support/base/status.h"

namespace baton {

/// The bytes of a file, at most `most` from its start; the failure says why.
Result<std::string> read_file(const std::string& path, size_t most = static_cast<size_t>(-1));

/// Gives the file `path` these bytes, all of them or none: they are written beside it and the file is
/// renamed. Other processes may do the same meanwhile. Not forced to the disk. The failure says why.
Status replace_file(const std::string& path, std::initializer_list<std::string_view> parts);

/// A file that appears whole or not at all, written piece by piece under another name in the same folder; it
/// is deleted again unless it is kept.
class TemporaryFile {
 public:
  TemporaryFile() = default;
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  /// Opens a new file beside `target`. Fails where none can be made, and when `target` is there and is no
  /// regular file.
  Status create(const std::string& target);
  Status append(const void* data, size_t bytes);
  /// How much was appended.
  size_t position() const { return position_; }
  /// Makes the file durable and gives it the name `target`.
  Status keep();

 private:
  Status failed() const;

  std::string target_;
  std::string path_;
  int descriptor_ = -1;
  size_t position_ = 0;
};

/// A folder of its own under $TMPDIR, or /tmp; removed with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder() = default;
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  /// Makes it: "baton-NAME-" and six characters that no other folder there has.
  Status create(const std::string& name);
  /// Where a file in it is, or would be.
  std::string path(const std::string& file) const { return path_ + "/" + file; }
  /// The six characters.
  std::string suffix() const { return path_.substr(path_.rfind('-') + 1); }
  /// Writes a file in it.
  Status write(const std::string& file, std::string_view bytes) const;

 private:
  std::string path_;
};

}  // namespace baton
