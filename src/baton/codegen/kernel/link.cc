#include "baton/codegen/kernel/link.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "baton/codegen/kernel/subprocess.h"
#include "baton/support/base/kernel_shim.h"

namespace baton {
namespace {

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

/// As linkers and compilers read response files.
std::string quoted(const std::string& path) {
  std::string text = "\"";
  for (const char c : path) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"\n";
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
