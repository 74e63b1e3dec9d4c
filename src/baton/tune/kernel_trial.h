#pragma once
// One kernel under trial: its default schedule beside others, in the same memory. For .cc files of this
// folder only.
#include <memory>
#include <span>
#include <vector>

#include "baton/clock/sample_clock.h"
#include "baton/codegen/compiler.h"
#include "baton/codegen/tuned_choice.h"

namespace baton {

/// A compiled schedule.
struct Trial {
  KernelSchedule schedule;  ///< with its template and parameters, also where defaults were asked for
  KernelFunction function = nullptr;
  std::shared_ptr<const KernelLibrary> library;  ///< keeps the function loaded
};

/// Compiles `schedules` in parallel. Left out are those that Halide refuses for this function.
std::vector<Trial> compile_trials(const Function& function, std::span<const KernelSchedule> schedules,
                                  const BuildContext& context);

class KernelTrial {
 public:
  /// `args`: the kernel's arguments in its model; inputs hold the model's values.
  KernelTrial(KernelFunction fallback, std::span<void*> args, size_t outputs);

  struct Length {
    int rounds;
    double seconds = 0;  ///< at least
    int threads = 1;
  };
  /// Times of one call: the default's, then those of `trials`, measured in turn.
  std::vector<Estimate> measure(std::span<const Trial> trials, const Length& length,
                                const SystemSource& system) const;

  /// Whether `trial` computes what the default does.
  bool agrees(const Trial& trial) const;

 private:
  std::vector<std::vector<char>> outputs() const;

  KernelFunction default_;
  std::span<void*> args_;
  size_t outputs_;
  std::vector<std::vector<char>> expected_;
};

}  // namespace baton
