#pragma once
// --debug-lines and --debug-dir: kernels that lead gdb, perf and objdump to lines of Relay.
#include <string>

#include "baton/cli/common.h"

namespace baton::cli {

struct DebugFlags {
  bool lines = false;
  std::string dir;

  void add(Flags& flags);
  /// Absolute; empty when nothing was asked for.
  std::string folder() const;
};

/// Builds of `model` have lines from now on if the flags ask for them, and libraries that this process loads
/// stand as files.
void apply(const DebugFlags& flags, ModelFlags& model);

}  // namespace baton::cli
