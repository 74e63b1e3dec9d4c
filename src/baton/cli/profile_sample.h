#pragma once
// `baton profile --sample`: shares of plain runs by kernel and stage.
#include "baton/cli/common.h"
#include "baton/cli/debug_flags.h"

namespace baton::cli {

struct SampleFlags {
  bool on = false;
  int hz = 1000;
  void add(Flags& flags);
};

/// Runs the whole verb in this mode; returns its exit status.
int profile_by_sampling(Io& io, const ModelFlags& model, const SampleFlags& flags, int threads, bool json);

}  // namespace baton::cli
