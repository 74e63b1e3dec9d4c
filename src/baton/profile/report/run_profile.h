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

/// Called before measuring, with the threads of the runs.
using MeasuringBegins = std::function<void(int threads)>;

/// As profile(), of an executor or machine of its own. `inputs`: by name; the others by the tensor rule.
/// Throws Error for a program whose inputs have open extents and no value.
ProfileReport run_profile(
    const BuildResult& built, const ProfileCommand& command, const NamedArrays& inputs,
    const MeasuringBegins& begins = [](int) {});

}  // namespace baton
