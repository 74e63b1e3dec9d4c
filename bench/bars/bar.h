#pragma once
// Reports whether a benchmark's bars hold: one line each, and exit status 1 when one does not.
#include <cstdio>

namespace baton::bars {

inline bool all_hold = true;

/// A measured value that must be in [least, most].
inline void report(const char* what, double least, double most, double measured, const char* unit) {
  const bool ok = measured >= least && measured <= most;
  all_hold &= ok;
  char bar[40];
  if (most > 1e300)
    std::snprintf(bar, sizeof bar, ">= %g", least);
  else if (least > -1e300)
    std::snprintf(bar, sizeof bar, "%g .. %g", least, most);
  else
    std::snprintf(bar, sizeof bar, "<= %g", most);
  std::printf("%-62s bar %-14s %-5s measured %9.3f  %s\n", what, bar, unit, measured, ok ? "ok" : "MISSED");
  std::fflush(stdout);
}

/// A measured value that must not be larger than `most`.
inline void report(const char* what, double most, double measured, const char* unit) {
  report(what, -1e301, most, measured, unit);
}

/// A measured value that must not be smaller than `least`.
inline void report_least(const char* what, double least, double measured, const char* unit) {
  report(what, least, 1e301, measured, unit);
}

}  // namespace baton::bars
