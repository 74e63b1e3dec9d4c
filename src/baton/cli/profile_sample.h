#pragma once
// `baton profile --sample`: shares of plain runs by kernel and stage.
#include "baton/cli/common.h"
#include "baton/cli/debug_flags.h"
#include "baton/cli/profile_program.h"

namespace baton::cli {

struct SampleFlags {
  bool on = false;
  int hz = 1000;
  void add(Flags& flags);
};

/// Runs the whole verb in this mode; returns its exit status. `program`: of models that are no plans.
int profile_by_sampling(Io& io, const ModelFlags& model, const ProgramFlags& program,
                        const SampleFlags& flags, int threads, bool json);

}  // namespace baton::cli
