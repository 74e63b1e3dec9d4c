#pragma once
// A build to be run again and again, as `baton bench` does: a plan by its executor, a program by a machine.
#include <functional>
#include <string>
#include <vector>

#include "baton/cli/common.h"

namespace baton::cli {

struct Runs {
  std::function<void()> run;
  std::function<std::vector<NDArray>()> outputs;  ///< of the last run, tuples flattened
  NamedArrays inputs;
  int threads = 0;
  double load_s = 0;  ///< seconds to load the build
};

/// `folder`: has <input name>.npy; the other inputs have values by the tensor rule. Empty: all of them.
/// `threads`: 0: the default. `interrupt`: of runs of a program. Throws Error for values that do not fit.
Runs make_runs(const BuiltModel& built, const ModelFlags& flags, const std::string& folder, int threads,
               const std::atomic<bool>* interrupt, Io& io);

}  // namespace baton::cli
