#include "baton/cli/peer.h"

#include "baton/support/error.h"
#include "baton/support/json.h"

namespace baton::cli {

Peer::Peer(std::string name, const std::vector<std::string>& command, std::string hint)
    : name_(std::move(name)), hint_(std::move(hint)) {
  const Status started = child_.start(command);
  if (!started.ok()) throw Error(name_ + " cannot be started: " + started.message + ". " + hint_);
  greeting_ = answer().dump();
}

Json Peer::greeting() const { return Json::parse(greeting_); }

Json Peer::ask(const std::string& line) {
  child_.write_line(line);
  return answer();
}

Json Peer::answer() {
  const std::string text = child_.read_line().value_or("");
  Json json = Json::parse_or_discard(text);
  if (text.empty() || json.is_discarded())
    throw Error(name_ + " ended without an answer; what it wrote stands above. " + hint_);
  return json;
}

}  // namespace baton::cli
