#pragma once
// --debug-lines and --debug-dir: kernels with debug information that maps to lines of Relay.
#include <string>

#include "baton/cli/common.h"

namespace baton::cli {

struct DebugFlags {
  bool lines = false;
  std::string dir;

  void add(Flags& flags);
  /// The absolute path; empty when not requested.
  std::string folder() const;
};

/// Enables debug lines for builds of `model` if requested, and stores libraries loaded by this process as
/// files.
void apply(const DebugFlags& flags, ModelFlags& model);

}  // namespace baton::cli
