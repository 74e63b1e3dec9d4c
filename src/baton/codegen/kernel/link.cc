#include "baton/codegen/kernel/link.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "baton/support/base/environment.h"
#include "baton/support/base/files.h"
#include "baton/support/base/kernel_shim.h"
#include "baton/support/base/processor_features.h"
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
  if (const std::string chosen = environment()->linker; !chosen.empty()) return find_program(chosen);
  for (const char* name : {"ld", "ld.lld", "cc", "gcc", "clang"}) {
    if (std::string found = find_program(name); !found.empty()) return found;
  }
  return "";
}

namespace {

/// Runs a linker's `words`, which write to `partial`, and moves the result to `output`.
Status run_linker(const std::vector<std::string>& words, const TemporaryFolder& folder,
                  const std::string& partial, const std::string& output) {
  const int code = run_program(words, folder.path("errors"));
  if (code == 0 && rename(partial.c_str(), output.c_str()) == 0) return Status::success();
  const std::string reason = code == 0 ? std::strerror(errno) : start_of(folder.path("errors"));
  unlink(partial.c_str());
  return Status::io("`" + words.front() + "` could not link the kernels into `" + output +
                    "`: " + (reason.empty() ? "exit status " + std::to_string(code) : reason));
}

/// Writes `first` and `objects` as a response file: a large model has more objects than fit a command line.
Status write_response(TemporaryFolder& folder, const std::string& first,
                      std::span<const std::string> objects) {
  std::string response = quoted(folder.path(first));
  for (const std::string& object : objects) response += quoted(object);
  return folder.write("response", response);
}

/// The GNU triple of a machine by Halide's name.
std::string gnu_triple(std::string_view code_target) {
  if (code_target.starts_with("arm-64-")) return "aarch64-linux-gnu";
  if (code_target.starts_with("riscv-64-")) return "riscv64-linux-gnu";
  if (code_target.starts_with("x86-64-")) return "x86_64-linux-gnu";
  return "";
}

/// The command of a C compiler for that triple; empty when there is none.
std::vector<std::string> cross_compiler(const std::string& triple) {
  if (const std::string chosen = environment()->cross_cc; !chosen.empty()) {
    const std::string found = find_program(chosen);
    return found.empty() ? std::vector<std::string>() : std::vector{found};
  }
  if (std::string found = find_program(triple + "-gcc"); !found.empty()) return {found};
  const std::string clang = find_program("clang");
  if (clang.empty()) return {};
  if (!find_program("ld.lld").empty()) return {clang, "--target=" + triple, "-fuse-ld=lld"};
  if (!find_program(triple + "-ld").empty()) return {clang, "--target=" + triple};
  return {};
}

}  // namespace

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
  if (status.ok()) status = write_response(folder, "shim.o", objects);
  if (!status.ok()) return status;

  const std::string partial = output + "-" + folder.suffix();
  std::vector<std::string> words = {linker, "-shared", "-o", partial};
  if (is_plain_linker(linker)) {
    words.insert(words.end(), {"-z", "noexecstack"});
  } else {
    words.insert(words.end(), {"-nostdlib", "-Wl,-z,noexecstack"});
  }
  words.push_back("@" + folder.path("response"));
  return run_linker(words, folder, partial, output);
}

bool is_cross(std::string_view code_target) { return !code_target.starts_with(processor_machine()); }

Status link_kernels_for(std::string_view code_target, std::span<const std::string> objects,
                        const std::string& output) {
  const std::string triple = gnu_triple(code_target);
  const std::vector<std::string> compiler = cross_compiler(triple);
  if (compiler.empty()) {
    std::string package = triple == "x86_64-linux-gnu" ? "x86-64-linux-gnu" : triple;
    return Status::unavailable("kernels for " + triple + " need a C compiler for it, `" + triple +
                               "-gcc`, and none was found: install the Debian package gcc-" + package +
                               ", or set BATON_CROSS_CC");
  }
  TemporaryFolder folder;
  if (Status status = folder.create("link"); !status.ok()) return status;
  Status status = folder.write("shim.c", kernel_shim_source());
  if (status.ok()) status = write_response(folder, "shim.c", objects);
  if (!status.ok()) return status;

  const std::string partial = output + "-" + folder.suffix();
  std::vector<std::string> words = compiler;
  words.insert(words.end(), {"-std=c11", "-O2", "-fPIC", "-ffreestanding", "-fno-stack-protector",
                             "-fno-asynchronous-unwind-tables", "-shared", "-nostdlib", "-Wl,-z,noexecstack",
                             "-o", partial, "@" + folder.path("response")});
  // Helpers that LLVM calls for what a machine lacks, as conversions from float16.
  if (words.front().ends_with("-gcc")) words.push_back("-lgcc");
  return run_linker(words, folder, partial, output);
}

}  // namespace baton
