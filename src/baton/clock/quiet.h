#pragma once
// Detects other load on the machine, and waits until there is little.
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace baton {

/// CPU time used so far, by all processes and by this one.
struct CpuUse {
  double all_s = 0, own_s = 0;
  double at_s = 0;     ///< time of the reading
  int processors = 1;  ///< number of CPUs summed in all_s
  double steal_s = 0;  ///< part of all_s: taken by the hypervisor for other virtual machines
};

/// From /proc/stat; nullopt when it does not exist.
std::optional<CpuUse> cpu_use();

/// The average number of CPUs used by other processes of this machine between two readings.
double others_busy(const CpuUse& before, const CpuUse& after);

struct WaitOptions {
  double limit_s = 60;
  const std::atomic<bool>* interrupt = nullptr;
  std::function<void(double busy, double waited_s)> progress;  ///< CPUs used by others; seconds so far
  std::function<std::optional<CpuUse>()> read = cpu_use;
  std::function<void(double seconds)> sleep;  ///< null: really sleeps
};

struct WaitResult {
  bool quiet = true;         ///< false: timed out
  bool interrupted = false;  ///< ended early, by the user
  double waited_s = 0;
  std::string note;  ///< what it waited for, or why it gave up; empty when the machine was quiet at once
};

/// Waits until other processes have used less than 5 % of the machine for two seconds.
WaitResult wait_until_quiet(const WaitOptions& options);

}  // namespace baton
