#pragma once
// A schedule that was found by measuring, as it is kept in the kernel cache and in tables. No Halide in the
// interface.
#include <optional>
#include <string>

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
/// The inverse; nullopt when a parameter is no number.
std::optional<KernelSchedule> schedule_of_text(const std::string& text);

}  // namespace baton
