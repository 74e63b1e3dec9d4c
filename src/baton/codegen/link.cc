#include "baton/codegen/link.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "baton/support/base/kernel_shim.h"

extern char** environ;

namespace baton {
namespace {

/// The file that the shell would run for `name`; empty when there is none.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  std::string_view rest = path ? path : "/usr/local/bin:/usr/bin:/bin";
  while (!rest.empty()) {
    const size_t end = rest.find(':');
    const std::string candidate = std::string(rest.substr(0, end)) + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  return "";
}

bool is_plain_linker(std::string_view program) {
  const std::string_view name = program.substr(program.rfind('/') + 1);
  return name == "ld" || name.starts_with("ld.") || name == "lld" || name == "mold";
}

/// A folder for this link alone, next to nothing else; removed with what we put there.
class WorkFolder {
 public:
  Status create() {
    const char* base = std::getenv("TMPDIR");
    path_ = std::string(base && *base ? base : "/tmp") + "/baton-link-XXXXXX";
    if (mkdtemp(path_.data())) return Status::success();
    const std::string reason = std::strerror(errno);
    Status status = Status::io("cannot create the folder `" + path_ + "`: " + reason);
    path_.clear();
    return status;
  }
  ~WorkFolder() {
    if (path_.empty()) return;
    for (const char* name : {"/shim.o", "/response", "/errors"}) unlink((path_ + name).c_str());
    rmdir(path_.c_str());
  }
  std::string file(const char* name) const { return path_ + "/" + name; }
  /// Unique, since the folder's name is.
  std::string suffix() const { return path_.substr(path_.rfind('-')); }

 private:
  std::string path_;
};

Status write_file(const std::string& path, const void* data, size_t bytes) {
  std::FILE* file = std::fopen(path.c_str(), "we");
  const bool written = file && std::fwrite(data, 1, bytes, file) == bytes;
  const bool closed = file && std::fclose(file) == 0;
  return written && closed ? Status::success()
                           : Status::io("cannot write `" + path + "`: " + std::strerror(errno));
}

std::string read_start(const std::string& path) {
  char text[2000];
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (!file) return "";
  const size_t bytes = std::fread(text, 1, sizeof text, file);
  std::fclose(file);
  return std::string(text, bytes);
}

/// As linkers and compilers read response files.
std::string quoted(const std::string& path) {
  std::string text = "\"";
  for (const char c : path) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"\n";
}

/// Runs a program with its error output in a file; its exit status, or -1 when it could not be started.
int run_program(const std::vector<std::string>& words, const std::string& errors) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
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

std::string find_linker() {
  if (const char* chosen = std::getenv("BATON_LINKER"); chosen && *chosen) return find_program(chosen);
  for (const char* name : {"ld", "ld.lld", "cc", "gcc", "clang"}) {
    if (std::string found = find_program(name); !found.empty()) return found;
  }
  return "";
}

Status link_kernels(std::span<const std::string> objects, const std::string& output) {
  const std::string linker = find_linker();
  if (linker.empty()) {
    return Status::unavailable(
        "no linker was found (ld, cc, gcc or clang): install binutils, or set BATON_LINKER");
  }
  WorkFolder folder;
  if (Status status = folder.create(); !status.ok()) return status;
  const std::span<const unsigned char> shim = kernel_shim_object();
  Status status = write_file(folder.file("shim.o"), shim.data(), shim.size());
  // The objects go through a file: a large model has more of them than a command line holds.
  std::string response = quoted(folder.file("shim.o"));
  for (const std::string& object : objects) response += quoted(object);
  if (status.ok()) status = write_file(folder.file("response"), response.data(), response.size());
  if (!status.ok()) return status;

  const std::string partial = output + folder.suffix();
  std::vector<std::string> words = {linker, "-shared", "-o", partial};
  if (is_plain_linker(linker)) {
    words.insert(words.end(), {"-z", "noexecstack"});
  } else {
    words.insert(words.end(), {"-nostdlib", "-Wl,-z,noexecstack"});
  }
  words.push_back("@" + folder.file("response"));
  const int code = run_program(words, folder.file("errors"));
  if (code == 0 && rename(partial.c_str(), output.c_str()) == 0) return Status::success();
  const std::string reason = code == 0 ? std::strerror(errno) : read_start(folder.file("errors"));
  unlink(partial.c_str());
  return Status::io("`" + linker + "` could not link the kernels into `" + output +
                    "`: " + (reason.empty() ? "exit status " + std::to_string(code) : reason));
}

}  // namespace baton
