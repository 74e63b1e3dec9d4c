#include "baton/support/subprocess.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "baton/support/base/environment.h"
#include "baton/support/base/files.h"

extern char** environ;

namespace baton {

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : "";
  std::string path = environment()->path;
  if (path.empty()) path = "/usr/local/bin:/usr/bin:/bin";
  std::string_view rest = path;
  while (!rest.empty()) {
    const size_t end = rest.find(':');
    const std::string candidate = std::string(rest.substr(0, end)) + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  return "";
}

namespace {

std::vector<char*> argument_list(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  return arguments;
}

/// Runs words[0] with its files as `actions` say, which are destroyed.
int run(const std::vector<std::string>& words, posix_spawn_file_actions_t& actions) {
  const std::vector<char*> arguments = argument_list(words);
  pid_t child = 0;
  const int failed = posix_spawn(&child, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed) return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

int run_program(const std::vector<std::string>& words, const std::string& errors, const std::string& output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  return run(words, actions);
}

int run_program(const std::vector<std::string>& words) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  return run(words, actions);
}

std::string start_of(const std::string& path) {
  const Result<std::string> text = read_file(path, 2000);
  return text.ok() ? *text : std::string();
}

namespace {

struct Pipe {
  int read = -1, write = -1;
  ~Pipe() {
    if (read >= 0) close(read);
    if (write >= 0) close(write);
  }
  bool open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read = ends[0], write = ends[1];
    return true;
  }
};

}  // namespace

Status Child::start(const std::vector<std::string>& words) {
  Pipe in, out;
  if (!in.open() || !out.open()) return Status::io(std::string("no pipe: ") + std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.read, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.write, STDOUT_FILENO);
  const std::vector<char*> arguments = argument_list(words);
  const int failed = posix_spawnp(&process_, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed) {
    process_ = -1;
    return Status::io(std::strerror(failed));
  }
  input_ = fdopen(std::exchange(in.write, -1), "w");
  output_ = fdopen(std::exchange(out.read, -1), "r");
  return Status::success();
}

Child::~Child() {
  if (input_) std::fclose(input_);
  if (output_) std::fclose(output_);
  if (process_ > 0) waitpid(process_, nullptr, 0);
}

void Child::write_line(const std::string& line) {
  std::fprintf(input_, "%s\n", line.c_str());
  std::fflush(input_);
}

std::optional<std::string> Child::read_line() {
  char* line = nullptr;
  size_t capacity = 0;
  const ssize_t length = getline(&line, &capacity, output_);
  std::optional<std::string> text;
  if (length > 0) text.emplace(line, static_cast<size_t>(length) - (line[length - 1] == '\n'));
  std::free(line);
  return text;
}

}  // namespace baton
