#include "baton/profile/record/set_time.h"

#include <cstdio>

namespace baton {

void set_time(Measurement& m, const Estimate& time) {
  m.samples_us = time.samples_us;
  m.disturbed.clear();
  for (const double us : time.disturbed_us) {
    m.disturbed.push_back(static_cast<uint32_t>(m.samples_us.size()));
    m.samples_us.push_back(us);
  }
  m.outliers = outliers_of(time.samples_us);
  m.median_us = time.us;
  m.cv = coefficient_of_variation(time.samples_us);
  m.plus_minus_us = time.plus_minus_us;
  m.unreliable = doubt_of(time.under_load, time.plus_minus_us, time.us);
  m.core_ns = time.core_ns;
}

std::string doubt_of(const std::string& under_load, const std::optional<double>& plus_minus_us, double us) {
  if (under_load.empty() || (plus_minus_us && *plus_minus_us <= kWidestTime * us)) return "";
  char text[60] = "";
  if (plus_minus_us && us > 0) std::snprintf(text, sizeof text, ", +- %.0f %%", *plus_minus_us / us * 100);
  return under_load + text;
}

}  // namespace baton
