#pragma once
// Another engine to compare with in `baton bench`: a child process that answers requests line by line.
#include <string>
#include <vector>

#include "baton/support/json.h"
#include "baton/support/subprocess.h"

namespace baton::cli {

class Peer {
 public:
  /// Starts `command` and waits for its first answer; `name` is for messages, `hint` is shown when it ends
  /// early. Throws Error when it cannot be started.
  Peer(std::string name, const std::vector<std::string>& command, std::string hint);

  const std::string& name() const { return name_; }
  /// The process's first answer: {"version": ...}.
  Json greeting() const;
  /// Sends one line and waits for the answer.
  Json ask(const std::string& line);

 private:
  Json answer();
  std::string name_, hint_;
  Child child_;
  std::string greeting_;  // unparsed
};

}  // namespace baton::cli
