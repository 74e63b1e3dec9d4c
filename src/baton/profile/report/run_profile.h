#pragma once
// `baton profile` of a build.
#include <functional>

#include "baton/profile/report/profile.h"
#include "baton/support/base/params_blob.h"
#include "baton/support/options/flags.h"

namespace baton {

struct ProfileCommand {
  ProfileOptions options;
  int threads = 0;  ///< of the runs; 0: the default of all runs

  /// The options of every profile.
  void add_measuring(Flags& flags);
  void add(Flags& flags);
};

/// Called before measuring, with the executor that will be measured.
using ExecutorReady = std::function<void(const Executor&)>;

/// As profile(), of an executor of its own. `inputs`: by name; the others by the tensor rule.
ProfileReport run_profile(
    const BuildResult& built, const ProfileCommand& command, const NamedArrays& inputs,
    const ExecutorReady& ready = [](const Executor&) {});

}  // namespace baton
