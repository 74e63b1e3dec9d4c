#include "baton/codegen/kernel/link.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "baton/support/base/files.h"
#include "baton/support/base/kernel_shim.h"
#include "baton/support/subprocess.h"

namespace baton {
namespace {

bool is_plain_linker(std::string_view program) {
  const std::string_view name = program.substr(program.rfind('/') + 1);
  return name == "ld" || name.starts_with("ld.") || name == "lld" || name == "mold";
}

/// Quotes a path for linkers' and compilers' response files.
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
  TemporaryFolder folder;
  if (Status status = folder.create("link"); !status.ok()) return status;
  const std::span<const unsigned char> shim = kernel_shim_object();
  Status status = folder.write("shim.o", {reinterpret_cast<const char*>(shim.data()), shim.size()});
  // Uses a response file: a large model has more objects than fit a command line.
  std::string response = quoted(folder.path("shim.o"));
  for (const std::string& object : objects) response += quoted(object);
  if (status.ok()) status = folder.write("response", response);
  if (!status.ok()) return status;

  const std::string partial = output + "-" + folder.suffix();
  std::vector<std::string> words = {linker, "-shared", "-o", partial};
  if (is_plain_linker(linker)) {
    words.insert(words.end(), {"-z", "noexecstack"});
  } else {
    words.insert(words.end(), {"-nostdlib", "-Wl,-z,noexecstack"});
  }
  words.push_back("@" + folder.path("response"));
  const int code = run_program(words, folder.path("errors"));
  if (code == 0 && rename(partial.c_str(), output.c_str()) == 0) return Status::success();
  const std::string reason = code == 0 ? std::strerror(errno) : start_of(folder.path("errors"));
  unlink(partial.c_str());
  return Status::io("`" + linker + "` could not link the kernels into `" + output +
                    "`: " + (reason.empty() ? "exit status " + std::to_string(code) : reason));
}

}  // namespace baton
