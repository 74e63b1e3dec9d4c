#pragma once
// Computes a whole profile: waits, measures, compares with the machine's peaks, splits kernels, builds
// unfused.
#include "baton/pass/build_context.h"
#include "baton/profile/measure/quiet.h"
#include "baton/profile/report/peaks.h"
#include "baton/profile/report/report.h"
#include "baton/runtime/artifact.h"

namespace baton {

struct ProfileOptions {
  MeasureOptions measure;
  bool inside = true, unfused = true, peaks = true;
  double inside_ms = 300;  ///< measuring time per kernel
  double wait_s = 0;       ///< > 0: the longest wait for a quiet machine
  /// The context of the build: devices, cache, interrupt. Its progress callback is called with phases and
  /// counts.
  BuildContext context;
};

/// `executor`: made from `built`, inputs and threads set; its intermediate tensors are overwritten. Throws
/// Error, and Interrupted on cancellation. The caller sets the report's model, source and opt_level.
ProfileReport profile(const BuildResult& built, Executor& executor, const ProfileOptions& options);

/// Profiles an artifact, which contains no Relay: kernel times joined with its stored operators; a note lists
/// what is missing. `shown`: its name in errors. Throws Error when its origins are stripped, or it is of
/// another version.
ProfileReport profile(const Artifact& artifact, const std::string& shown, Executor& executor,
                      const ProfileOptions& options);

/// The facts stored in an artifact. Throws Error as above.
ReportSource report_source(const Artifact& artifact, const std::string& shown);

}  // namespace baton
