#pragma once
// What else the machine is doing, and waiting until it does little.
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace baton {

/// Processor time used so far, by everybody and by this process.
struct CpuUse {
  double all_s = 0, own_s = 0;
  double at_s = 0;     ///< when it was read
  int processors = 1;  ///< that all_s is summed over
};

/// From /proc/stat; nothing where there is none.
std::optional<CpuUse> cpu_use();

/// How many processors were busy with others between two readings.
double others_busy(const CpuUse& before, const CpuUse& after);

/// How often this process was made to give up a processor: what was measured meanwhile took longer than it
/// takes.
long times_held_up();

struct WaitOptions {
  double limit_s = 60;
  const std::atomic<bool>* interrupt = nullptr;
  std::function<void(double busy, double waited_s)>
      progress;  ///< processors that others keep busy; seconds so far
  std::function<std::optional<CpuUse>()> read = cpu_use;
  std::function<void(double seconds)> sleep;  ///< null: really
};

struct WaitResult {
  bool quiet = true;  ///< false: the limit came first
  double waited_s = 0;
  std::string note;  ///< what it waited for, or why it gave up; empty when it was quiet at once
};

/// Waits until others have used less than 5 % of the machine for two seconds. Throws Interrupted.
WaitResult wait_until_quiet(const WaitOptions& options);

}  // namespace baton
