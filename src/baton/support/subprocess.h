#pragma once
// Programs of the machine: the linker, the assembler, another engine to compare with.
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "baton/support/base/status.h"

namespace baton {

/// The file that the shell would run for `name`; empty when there is none.
std::string find_program(const std::string& name);

/// Runs words[0] with its error output in the file `errors`; its exit status, or -1 when it could not be
/// started.
int run_program(const std::vector<std::string>& words, const std::string& errors);

/// The beginning of what a program wrote to a file, for a message; empty when it cannot be read.
std::string start_of(const std::string& path);

/// A program that reads lines from us and answers in lines; its error output is ours.
class Child {
 public:
  Child() = default;
  /// Ends its input, and waits until it ends.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Starts words[0], looked for as the shell does. When that fails nothing is left open; the Status says
  /// why.
  Status start(const std::vector<std::string>& words);
  /// Once it has started.
  void write_line(const std::string& line);
  /// The next line it writes, without its end; nothing when there is none left.
  std::optional<std::string> read_line();

 private:
  pid_t process_ = -1;
  std::FILE* input_ = nullptr;   // its standard input
  std::FILE* output_ = nullptr;  // its standard output
};

}  // namespace baton
