#pragma once
// What the split of kernels is told.
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "baton/pass/build_context.h"
#include "baton/profile/measure/measure.h"

namespace baton {

struct InsideOptions {
  /// `context`: that of the build, for variants of kernels.
  explicit InsideOptions(BuildContext context) : compile(std::move(context)) {}

  /// Measuring time for all variants of a kernel in all rounds together; ends earlier once the shares are
  /// precise.
  double ms_per_kernel = 100;
  int rounds = 4;                              ///< each in the memory of an executor of its own
  AnotherExecutor another = {};                ///< makes these; null: the same memory in all rounds
  Budget* budget = nullptr;                    ///< for all kernels; compiling does not count. Null: no limit
  std::map<std::string, double> weights = {};  ///< by func_name: its part of the budget
  SystemSource system = read_system;
  /// If > 1, every kernel is also measured on that many threads: fills InsideTimes::loads, and shares are of
  /// all threads' time.
  int threads = 1;
  bool sampling =
      true;  ///< use sampling where stage sums are off under marks, or stages are too short for them
  BuildContext compile;
  std::function<void()> after_round = {};             ///< called between two rounds; its time is not counted
  std::function<void(int done, int total)> progress;  ///< counts measured kernels
  std::function<uint64_t()> clock;                    ///< for tests: replaces fenced_ticks(), in its unit
};

}  // namespace baton
