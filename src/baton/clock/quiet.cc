#include "baton/clock/quiet.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <thread>

#include <unistd.h>

#include "baton/runtime/system/timers.h"

namespace baton {

namespace {

constexpr double kQuietShare = 0.05;
constexpr double kInterval = 0.5;
constexpr int kQuietIntervals = 4;

void sleep_for(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

std::string text_of(const char* pattern, double a, double b, double c = 0) {
  char text[200];
  std::snprintf(text, sizeof text, pattern, a, b, c);
  return text;
}

}  // namespace

std::optional<CpuUse> cpu_use() {
  std::ifstream file("/proc/stat");
  CpuUse use;
  use.processors = 0;
  bool found = false;
  for (std::string line; std::getline(file, line) && line.starts_with("cpu");) {
    if (line.size() > 3 && line[3] != ' ') {
      ++use.processors;
      continue;
    }
    // user nice system idle iowait irq softirq steal; guest time is included in user
    std::istringstream fields(line.substr(3));
    double ticks = 0;
    for (int i = 0; i < 8 && fields >> ticks; ++i) {
      if (i != 3 && i != 4) use.all_s += ticks;
      if (i == 7) use.steal_s = ticks;
    }
    found = true;
  }
  if (!found) return std::nullopt;
  use.processors = std::max(use.processors, 1);
  use.all_s /= static_cast<double>(sysconf(_SC_CLK_TCK));
  use.steal_s /= static_cast<double>(sysconf(_SC_CLK_TCK));
  use.own_s = static_cast<double>(process_cpu_ns()) / 1e9;
  use.at_s = static_cast<double>(monotonic_ns()) / 1e9;
  return use;
}

double others_busy(const CpuUse& before, const CpuUse& after) {
  const double seconds = after.at_s - before.at_s;
  if (seconds <= 0) return 0;
  const double busy =
      (after.all_s - before.all_s - (after.steal_s - before.steal_s) - (after.own_s - before.own_s)) /
      seconds;
  return std::clamp(busy, 0.0, static_cast<double>(after.processors));
}

WaitResult wait_until_quiet(const WaitOptions& options) {
  WaitResult result;
  std::optional<CpuUse> before = options.read();
  if (!before) {
    result.note = "--wait: there is no /proc/stat to say what else this machine does; measured at once";
    return result;
  }
  const double start = before->at_s;
  double most = 0, busy = 0;
  for (int quiet = 0; quiet < kQuietIntervals;) {
    if (options.interrupt && *options.interrupt) {
      result.interrupted = true;
      return result;
    }
    (options.sleep ? options.sleep : sleep_for)(kInterval);
    const std::optional<CpuUse> now = options.read();
    if (!now) break;
    busy = others_busy(*before, *now);
    before = now;
    most = std::max(most, busy);
    result.waited_s = now->at_s - start;
    quiet = busy < kQuietShare * now->processors ? quiet + 1 : 0;
    if (options.progress) options.progress(busy, result.waited_s);
    if (quiet < kQuietIntervals && result.waited_s >= options.limit_s) {
      result.quiet = false;
      result.note = text_of(
          "--wait: others still kept %.1f of %.0f processors busy after %.0f s; measured all the same", busy,
          now->processors, result.waited_s);
      return result;
    }
  }
  if (result.waited_s > (kQuietIntervals + 1) * kInterval)
    result.note =
        text_of("waited %.0f s for other programs, which had kept up to %.1f of %.0f processors busy",
                result.waited_s, most, before->processors);
  return result;
}

}  // namespace baton
