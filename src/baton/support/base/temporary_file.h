#pragma once
// Files that appear whole or not at all: written under another name in the same folder, then renamed.
#include <cstddef>
#include <string>

#include "baton/support/base/status.h"

namespace baton {

/// A file that is deleted again unless it is kept.
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

}  // namespace baton
