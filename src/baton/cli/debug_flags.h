#pragma once
// --debug-lines and --debug-dir: kernels that lead gdb, perf and objdump to lines of Relay.
#include <optional>
#include <string>

#include "baton/cli/common.h"
#include "baton/runtime/kernel_files.h"

namespace baton::cli {

struct DebugFlags {
  bool lines = false;
  std::string dir;

  void add(Flags& flags);
  /// Absolute; empty when nothing was asked for.
  std::string folder() const;
};

/// Builds of `model` have lines from now on if the flags ask for them; while the scope lives, libraries that
/// are loaded stand as files.
class DebugScope {
 public:
  DebugScope(const DebugFlags& flags, ModelFlags& model);

 private:
  std::optional<KernelFilesScope> files_;
};

}  // namespace baton::cli
