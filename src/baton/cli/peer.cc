#include "baton/cli/peer.h"

#include <nlohmann/json.hpp>

#include "baton/support/error.h"

namespace baton::cli {

Peer::Peer(std::string name, const std::vector<std::string>& command, std::string hint)
    : name_(std::move(name)), hint_(std::move(hint)) {
  const Status started = child_.start(command);
  if (!started.ok()) throw Error(name_ + " cannot be started: " + started.message);
  greeting_ = answer().dump();
}

nlohmann::json Peer::greeting() const { return nlohmann::json::parse(greeting_); }

nlohmann::json Peer::ask(const std::string& line) {
  child_.write_line(line);
  return answer();
}

nlohmann::json Peer::answer() {
  const std::string text = child_.read_line().value_or("");
  nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (text.empty() || json.is_discarded())
    throw Error(name_ + " ended without an answer; what it wrote stands above. " + hint_);
  return json;
}

}  // namespace baton::cli
