#pragma once
// The latency of a fused function against that of offloading it: every kernel of a build, alone, beside the
// same operators compiled by other backends, with copies and changes of layout. See docs/design/0032.
#include <functional>
#include <string>
#include <vector>

#include "baton/driver/build.h"
#include "baton/profile/compare/offload.h"
#include "baton/profile/measure/measure.h"
#include "baton/profile/report/rows.h"
#include "baton/profile/report/run_profile.h"

namespace baton {

struct CompareOptions {
  /// As of the base's build: level, config, cache, devices, interrupt; `params`: weights of the model.
  BuildOptions build;
  int threads = 0;          ///< of the runs; 0: the default of all runs
  double max_seconds = 60;  ///< for measuring; compiling does not count
  int rounds = 6;           ///< of each function
  SystemSource system = read_system;
  std::function<void(const ProfileProgress&)> progress = {};
};

/// Compares each distinct kernel of `base` (the build of `source` for the first of `backends`) with the
/// others; longest kernels first, until the time is over. `report`: the profile of `base`, whose titles and
/// times are used. A backend whose results differ is recorded as wrong and not measured. An interrupt ends
/// it: Comparison::partial says so.
Comparison compare(const ProfileReport& report, const IRModule& source, const BuildResult& base,
                   const std::vector<ComparedBackend>& backends, const CompareOptions& options);

/// `baton profile --compare`: the profile of `base` with its comparison, for which the larger part of the
/// command's time is. `how`: as CompareOptions::build.
ProfileReport run_compare(
    const IRModule& source, const BuildResult& base, const std::vector<ComparedBackend>& backends,
    const ProfileCommand& command, const BuildOptions& how, const NamedArrays& inputs,
    const MeasuringBegins& begins = [](int) {});

/// Why two results of a computation differ by more than rounding; empty when they do not. Reals may differ by
/// 1e-4 of the largest magnitude (of 16 bits: 2e-2), integers not at all; what is not a number must be so in
/// both. `largest`: raised to the largest difference, relative to the largest magnitude.
std::string difference_of(const NDArray& expected, const NDArray& got, double& largest);

}  // namespace baton
