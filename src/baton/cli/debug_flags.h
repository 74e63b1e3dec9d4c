#pragma once
// --debug-lines and --debug-dir: kernels that lead gdb, perf and objdump to lines of Relay.
#include <optional>
#include <string>

#include "baton/pass/pass.h"
#include "baton/runtime/kernel_files.h"

namespace baton::cli {

struct DebugFlags {
  bool lines = false;
  std::string dir;

  void add(Flags& flags);
  /// Absolute; empty when nothing was asked for.
  std::string folder() const;
};

/// While one lives, builds have lines if the flags ask for them, and libraries that are loaded stand as
/// files.
class DebugScope {
 public:
  explicit DebugScope(const DebugFlags& flags);

 private:
  std::optional<PassContextScope> context_;
  std::optional<KernelFilesScope> files_;
};

}  // namespace baton::cli
