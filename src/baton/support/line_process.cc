#include "baton/support/line_process.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>

#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace baton {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

LineProcess::~LineProcess() {
  if (!running()) return;
  // Half of it: what the process still writes does not stop it.
  shutdown(channel_, SHUT_WR);
  const auto begin = Clock::now();
  while (!ended_ && seconds_since(begin) < 2) read_line(0.1);
  finish();
}

Status LineProcess::start(const std::vector<std::string>& words) {
  if (running()) finish();
  int ends[2];
  // A socket, since writing to a process that has ended is then an error and no signal.
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return Status::io(std::string("no socket: ") + std::strerror(errno));
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int failed = posix_spawnp(&process_, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  received_.clear();
  ended_ = false;
  signal_ = 0;
  if (failed) {
    close(ends[0]);
    process_ = -1;
    return Status::io(std::strerror(failed));
  }
  channel_ = ends[0];
  return Status::success();
}

bool LineProcess::write_line(const std::string& line) {
  const std::string text = line + "\n";
  for (size_t at = 0; at < text.size();) {
    const ssize_t sent = send(channel_, text.data() + at, text.size() - at, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += static_cast<size_t>(sent);
  }
  return true;
}

std::optional<std::string> LineProcess::read_line(double timeout_s) {
  const auto begin = Clock::now();
  size_t searched = 0;
  while (true) {
    const size_t end = received_.find('\n', searched);
    if (end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    searched = received_.size();
    if (ended_ || channel_ < 0) return std::nullopt;
    const double left_ms = std::max(0.0, timeout_s - seconds_since(begin)) * 1e3;
    pollfd wait{channel_, POLLIN, 0};
    const int ready = poll(&wait, 1, static_cast<int>(std::min(std::ceil(left_ms), 1e9)));
    if (ready < 0 && errno != EINTR) ended_ = true;
    if (ready == 0) return std::nullopt;
    if (ready < 0) continue;
    char block[65536];
    const ssize_t got = recv(channel_, block, sizeof block, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      ended_ = true;
    else
      received_.append(block, static_cast<size_t>(got));
  }
}

std::string LineProcess::finish() {
  if (!running()) return "was not started";
  int status = 0;
  pid_t done = waitpid(process_, &status, WNOHANG);
  // It closed its output just now, and is about to end.
  for (int i = 0; ended_ && done == 0 && i < 100; ++i) {
    usleep(5000);
    done = waitpid(process_, &status, WNOHANG);
  }
  // Its own children too: a farm's workers.
  kill(-process_, SIGKILL);
  while (done == 0) {
    done = waitpid(process_, &status, 0);
    if (done < 0 && errno == EINTR) done = 0;
  }
  process_ = -1;
  close_pipes();
  ended_ = true;
  signal_ = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (signal_) return "was killed by signal " + std::to_string(signal_) + " (" + strsignal(signal_) + ")";
  return "ended with status " + std::to_string(WEXITSTATUS(status));
}

void LineProcess::close_pipes() {
  if (channel_ >= 0) close(channel_);
  channel_ = -1;
}

}  // namespace baton
