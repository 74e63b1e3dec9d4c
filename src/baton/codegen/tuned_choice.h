#pragma once
// Schedules that were found by measuring (`baton tune`), kept in the kernel cache: for the same fused
// function in any model, on the same kind of processor, by the same code generator. No Halide in the
// interface.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "baton/codegen/kernel/kernel_cache.h"
#include "baton/schedule/kernel_choice.h"

namespace baton {

struct TunedSchedule {
  KernelSchedule schedule;  ///< empty: nothing was faster than the default
  std::string second;       ///< what came second, as text; empty: nothing else was measured
  double us = 0, default_us = 0, second_us = 0;  ///< of one call on one thread, microseconds
  int tried = 0, candidates = 0;                 ///< a tuner goes on after the first `tried`

  std::string text() const;
  /// nullopt for a damaged text.
  static std::optional<TunedSchedule> from_text(const std::string& text);
};

/// "gemm tile_m=8 tile_n=2": a template and its parameters.
std::string schedule_text(const KernelSchedule& schedule);

/// What is kept for a fused function; nullopt: it was not tuned.
std::optional<TunedSchedule> kept_tuned(const Function& function, const DeviceSheet& sheet,
                                        KernelCache& cache);
void keep_tuned(const Function& function, const DeviceSheet& sheet, KernelCache& cache,
                const TunedSchedule& tuned);

/// Takes schedules from `cache` (null: the shared one), else the default.
std::shared_ptr<const KernelChoice> tuned_choice(KernelCache* cache);

/// Every schedule that templates offer for a function but `chosen`, the default: first those nearest to it.
/// "trivial" is offered where it is the default only.
std::vector<KernelSchedule> other_schedules(const Function& function, const KernelSchedule& chosen,
                                            const DeviceSheet& sheet);

}  // namespace baton
