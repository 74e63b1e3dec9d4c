#pragma once
// Runs external programs: the linker, the assembler, engines to compare with.
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "baton/support/base/status.h"

namespace baton {

/// The path of the executable that the shell would run for `name`; empty when there is none.
std::string find_program(const std::string& name);

/// Runs words[0] with standard error redirected to the file `errors`, and standard output to `output`.
/// Returns its exit status, or -1 when it could not be started.
int run_program(const std::vector<std::string>& words, const std::string& errors,
                const std::string& output = "/dev/null");
/// The same with everything that it prints on this process's standard error.
int run_program(const std::vector<std::string>& words);

/// The beginning of a program's output file, for a message; empty when it cannot be read.
std::string start_of(const std::string& path);

/// A child process that exchanges lines over pipes; its standard error is inherited.
class Child {
 public:
  Child() = default;
  /// Closes its standard input and waits for its exit.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Starts words[0], searched in PATH. On failure nothing is left open; the Status has the reason.
  Status start(const std::vector<std::string>& words);
  /// Requires a started process.
  void write_line(const std::string& line);
  /// Its next output line without newline; nullopt at the end.
  std::optional<std::string> read_line();

 private:
  pid_t process_ = -1;
  std::FILE* input_ = nullptr;   // its standard input
  std::FILE* output_ = nullptr;  // its standard output
};

}  // namespace baton
