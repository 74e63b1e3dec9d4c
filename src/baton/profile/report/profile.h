#pragma once
// A whole profile: wait, measure, compare with the machine's peaks, take apart, look inside.
#include "baton/pass/build_context.h"
#include "baton/profile/measure/quiet.h"
#include "baton/profile/report/peaks.h"
#include "baton/profile/report/report.h"
#include "baton/runtime/artifact.h"

namespace baton {

struct ProfileOptions {
  MeasureOptions measure;
  bool inside = true, unfused = true, peaks = true;
  double inside_ms = 300;  ///< of measuring, per kernel
  double wait_s = 0;       ///< > 0: waits at most so long for a quiet machine
  /// That of the build: devices, cache, interrupt. Its progress is told what is being done, and how far it
  /// is.
  BuildContext context;
};

/// `executor`: made from `built`, inputs and threads set. Its intermediate tensors hold anything afterwards.
/// Throws Error, and Interrupted when asked to stop. The report has no model, source and opt_level yet.
ProfileReport profile(const BuildResult& built, Executor& executor, const ProfileOptions& options);

/// An artifact, which has no Relay any more: times of its kernels, joined with the operators it remembers; a
/// note says what is missing. `shown` names it in errors. Throws Error when it was stripped of its origins,
/// or is of another version.
ProfileReport profile(const Artifact& artifact, const std::string& shown, Executor& executor,
                      const ProfileOptions& options);

/// What an artifact knows of itself. Throws Error as above.
ReportSource report_source(const Artifact& artifact, const std::string& shown);

}  // namespace baton
