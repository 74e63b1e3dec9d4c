#pragma once
// A verb of the command line: one class, one file, one line in verbs.def.
#include <memory>
#include <ostream>
#include <set>
#include <string>

#include "baton/support/options/flags.h"

namespace baton::cli {

/// The streams of a verb. `out` is for results only; progress and errors go to `err`.
struct Io {
  std::ostream& out;
  std::ostream& err;
  bool terminal = false;             ///< stderr is a terminal: progress is shown
  int columns = 120;                 ///< of `out`: of the terminal, if it is one
  bool colour = false;               ///< `out` is a terminal that shows colours, and NO_COLOR is not set
  std::string device_alias = {};     ///< set_device_aliases()
  std::set<std::string> given = {};  ///< the verb's options on the command line, by their long names
};

class Verb {
 public:
  Verb(std::string name, std::string doc) : name_(std::move(name)), doc_(std::move(doc)) {}
  virtual ~Verb() = default;
  const std::string& name() const { return name_; }
  const std::string& doc() const { return doc_; }
  virtual void flags(Flags& flags) = 0;
  /// The exit code: 0 success, 1 user error, already reported.
  virtual int run(Io& io) = 0;

 private:
  std::string name_, doc_;
};

/// Runs `baton ARGS` and returns the exit code: 0 success, 1 user error, 2 wrong usage, 3 internal error.
int run(int argc, const char* const* argv, Io& io);

}  // namespace baton::cli
