#pragma once
// Programs of the machine (linker, assembler) and folders to hand them files in.
#include <string>
#include <vector>

namespace baton {

/// The file that the shell would run for `name`; empty when there is none.
std::string find_program(const std::string& name);

/// Runs words[0] with its error output in the file `errors`; its exit status, or -1 when it could not be
/// started.
int run_program(const std::vector<std::string>& words, const std::string& errors);

/// The first 2000 bytes of a file; empty when it cannot be read.
std::string read_start(const std::string& path);

/// All of a file. Throws Error.
std::string read_all(const std::string& path);

/// A folder of its own under $TMPDIR, removed with all that is in it. Throws Error when it cannot be made.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  /// A file in it with these bytes; its path. Throws Error.
  std::string write(const std::string& name, const std::string& bytes) const;
  std::string path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace baton
