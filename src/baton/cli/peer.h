#pragma once
// Another engine that `baton bench` times beside Baton: a child process that answers requests line by line.
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "baton/support/subprocess.h"

namespace baton::cli {

class Peer {
 public:
  /// Starts `command`; `name` is for messages, `hint` says what to do when it ends early. Waits for its first
  /// answer. Throws Error when it cannot be started.
  Peer(std::string name, const std::vector<std::string>& command, std::string hint);

  const std::string& name() const { return name_; }
  /// What the process said of itself when it was ready: {"version": ...}.
  nlohmann::json greeting() const;
  /// Sends one line and waits for the answer.
  nlohmann::json ask(const std::string& line);

 private:
  nlohmann::json answer();
  std::string name_, hint_;
  Child child_;
  std::string greeting_;  // as it came
};

}  // namespace baton::cli
