#pragma once
// Computes a whole profile: waits, measures, compares with the machine's peaks, splits kernels, builds
// unfused.
#include <functional>
#include <optional>
#include <string>

#include "baton/clock/quiet.h"
#include "baton/pass/build_context.h"
#include "baton/profile/report/peaks.h"
#include "baton/profile/report/program_times.h"
#include "baton/profile/report/report.h"
#include "baton/runtime/artifact.h"

namespace baton {

/// Where a profile is.
struct ProfileProgress {
  std::string phase;
  int done = 0, total = 0;
  std::optional<double> seconds_left;  ///< estimated, of everything; nullopt: not known yet
};

struct ProfileOptions {
  MeasureOptions measure;
  bool inside = true, unfused = true, peaks = true;
  double inside_ms = 100;   ///< measuring time per kernel
  double wait_s = 0;        ///< > 0: the longest wait for a quiet machine
  double max_seconds = 60;  ///< for measuring; compiling and waiting do not count
  std::function<void(const ProfileProgress&)> progress;
  /// Makes another executor like the given one; null: for a build its own, for an artifact none.
  AnotherExecutor another;
  /// The context of the build: devices, cache, interrupt (ends the profile: what was measured is reported,
  /// and ProfileReport::partial says so).
  BuildContext context;
};

/// `executor`: made from `built`, inputs and threads set; its intermediate tensors are overwritten. Throws
/// Error, and Interrupted when nothing was measured before the interrupt. The caller sets the report's
/// head.
ProfileReport profile(const BuildResult& built, Executor& executor, const ProfileOptions& options);

/// Profiles a program, on the given values: kernels, what lies between them, loops and branches. Kernels are
/// not split, and there is no unfused build. Throws as above.
ProfileReport profile(const ProgramSource& source, const ProgramCall& call, const ProfileOptions& options);

/// Profiles an artifact, which contains no Relay: kernel times joined with its stored operators; a note lists
/// what is missing. `shown`: its name in errors. Throws Error when its origins are stripped, or it is of
/// another version.
ProfileReport profile(const Artifact& artifact, const std::string& shown, Executor& executor,
                      const ProfileOptions& options);

}  // namespace baton
