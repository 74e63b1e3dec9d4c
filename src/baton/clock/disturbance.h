#pragma once
// The one rule for disturbed measurements (design note 0018): what the system reports about an interval, and
// whether times taken in it count. Readings are plain values, so that the rule can be tested on recorded
// ones.
#include <functional>
#include <optional>
#include <string>

#include "baton/clock/quiet.h"

namespace baton {

/// What the system has counted so far.
struct SystemReading {
  std::optional<CpuUse> cpu;  ///< nullopt: no /proc/stat
  double throttled_s = 0;     ///< time without CPU because the container's quota was used up
};
SystemReading read_system();
using SystemSource = std::function<SystemReading()>;

/// "throttled_usec 5" (version 2) or "throttled_time 5000" (version 1, ns) in a control group's cpu.stat.
double throttled_seconds(const std::string& cpu_stat);

/// What happened to an interval from outside. Intervals add up.
struct Disturbance {
  double seconds = 0;
  double others_s = 0, steal_s = 0, throttled_s = 0;  ///< CPU seconds; throttled: wall clock
  int processors = 1;

  double others() const { return seconds > 0 ? others_s / seconds : 0; }  ///< CPUs used by other programs
  double stolen() const { return seconds > 0 ? steal_s / seconds : 0; }   ///< CPUs taken by the hypervisor
  bool by_others() const;
  bool by_steal() const;
  bool by_quota() const;
  /// Whether times taken in the interval are not those of a quiet machine.
  bool any() const { return by_others() || by_steal() || by_quota(); }
  /// "1.4 of 2 processors busy elsewhere", "0.3 of 2 processors taken by the hypervisor", "held for 120 ms by
  /// the container's CPU quota"; empty if not any().
  std::string text() const;

  Disturbance& operator+=(const Disturbance& more);
};
Disturbance disturbance(const SystemReading& before, const SystemReading& after);

}  // namespace baton
