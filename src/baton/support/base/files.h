#pragma once
// Reading and atomically replacing files; temporary files and folders.
// | Status messages here contain only the reason ("No such file or directory"); callers add the file's name.
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

#include "baton/support/base/status.h"

namespace baton {

/// The first `most` bytes of a file, or the error.
Result<std::string> read_file(const std::string& path, size_t most = static_cast<size_t>(-1));

/// Atomically replaces the contents of the file `path`: writes a temporary file beside it and renames it.
/// Safe for concurrent processes. Not synced to disk.
Status replace_file(const std::string& path, std::initializer_list<std::string_view> parts);

/// A file written incrementally under a temporary name in the target's folder; deleted unless keep() renames
/// it.
class TemporaryFile {
 public:
  TemporaryFile() = default;
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  /// Opens a new file beside `target`. Fails when it cannot be created, and when `target` exists and is not a
  /// regular file.
  Status create(const std::string& target);
  Status append(const void* data, size_t bytes);
  /// The number of bytes appended.
  size_t position() const { return position_; }
  /// Syncs the file to disk and renames it to `target`.
  Status keep();

 private:
  Status failed() const;

  std::string target_;
  std::string path_;
  int descriptor_ = -1;
  size_t position_ = 0;
};

/// A temporary folder under $TMPDIR, or /tmp; removed with its contents by the destructor.
class TemporaryFolder {
 public:
  TemporaryFolder() = default;
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  /// Creates it: "baton-NAME-" and a unique suffix of six characters.
  Status create(const std::string& name);
  /// The path of a file in it, existing or not.
  std::string path(const std::string& file) const { return path_ + "/" + file; }
  /// The suffix of six characters.
  std::string suffix() const { return path_.substr(path_.rfind('-') + 1); }
  /// Writes a file in it.
  Status write(const std::string& file, std::string_view bytes) const;

 private:
  std::string path_;
};

}  // namespace baton
