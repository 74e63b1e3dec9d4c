#include "baton/cli/peer.h"

#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "baton/support/error.h"

namespace baton::cli {

Peer::Peer(std::string name, const std::vector<std::string>& command, std::string hint)
    : name_(std::move(name)), hint_(std::move(hint)) {
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
    throw Error("no pipe for " + name_ + ": " + std::strerror(errno));
  process_ = fork();
  if (process_ == 0) {
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    std::vector<char*> argv;
    for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  to_ = fdopen(in[1], "w");
  from_ = fdopen(out[0], "r");
  if (process_ < 0) throw Error(name_ + " cannot be started: " + std::strerror(errno));
  greeting_ = answer().dump();
}

Peer::~Peer() {
  if (to_) fclose(to_);  // end of input ends the process
  if (from_) fclose(from_);
  if (process_ > 0) waitpid(process_, nullptr, 0);
}

nlohmann::json Peer::greeting() const { return nlohmann::json::parse(greeting_); }

nlohmann::json Peer::ask(const std::string& line) {
  std::fprintf(to_, "%s\n", line.c_str());
  std::fflush(to_);
  return answer();
}

nlohmann::json Peer::answer() {
  char* line = nullptr;
  size_t capacity = 0;
  const ssize_t length = getline(&line, &capacity, from_);
  const std::string text = length > 0 ? std::string(line, static_cast<size_t>(length)) : std::string();
  std::free(line);
  nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (text.empty() || json.is_discarded())
    throw Error(name_ + " ended without an answer; what it wrote stands above. " + hint_);
  return json;
}

}  // namespace baton::cli
