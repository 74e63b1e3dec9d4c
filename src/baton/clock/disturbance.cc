#include "baton/clock/disturbance.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace baton {

namespace {

// Other programs disturb when they use this many CPUs, or this share of them. /proc/stat counts in steps of
// 10 ms, so that less cannot be told in a window of a third of a second.
constexpr double kOthersBusy = 0.15, kOthersShare = 0.1;
constexpr double kStolen = 0.05;        // CPUs
constexpr double kThrottledS = 0.0005;  // the quota's period is 100 ms, so that any throttling is longer

std::string file_text(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// This process' control group with the CPU controller: "/sys/fs/cgroup/cpu/docker/1a2b"; found once.
std::string cpu_stat_path() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {  // 4:cpu,cpuacct:/path, or 0::/path (version 2)
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",",
                      path = line.substr(second + 1);
    const bool unified = controllers == ",,";
    if (!unified && controllers.find(",cpu,") == std::string::npos) continue;
    const std::string root = unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu";
    // In a container the own group is mounted as the root.
    for (const std::string& folder : {root + path, root})
      if (const std::string stat = folder + "/cpu.stat"; std::ifstream(stat).good()) return stat;
  }
  return "";
}

std::string text_of(const char* pattern, double a, int b = 0) {
  char text[120];
  std::snprintf(text, sizeof text, pattern, a, b);
  return text;
}

}  // namespace

double throttled_seconds(const std::string& cpu_stat) {
  std::istringstream lines(cpu_stat);
  double value = 0;
  for (std::string name; lines >> name >> value;) {
    if (name == "throttled_usec") return value / 1e6;
    if (name == "throttled_time") return value / 1e9;
  }
  return 0;
}

SystemReading read_system() {
  static const std::string quota = cpu_stat_path();
  return {cpu_use(), quota.empty() ? 0 : throttled_seconds(file_text(quota))};
}

bool Disturbance::by_others() const { return others() > std::max(kOthersBusy, kOthersShare * processors); }
bool Disturbance::by_steal() const { return stolen() > kStolen; }
bool Disturbance::by_quota() const { return throttled_s > kThrottledS; }

std::string Disturbance::text() const {
  std::string text;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  if (by_others()) add(text_of("%.1f of %d processors busy elsewhere", others(), processors));
  if (by_steal()) add(text_of("%.1f of %d processors taken by the hypervisor", stolen(), processors));
  if (by_quota()) add(text_of("held for %.0f ms by the container's CPU quota", throttled_s * 1e3));
  return text;
}

Disturbance& Disturbance::operator+=(const Disturbance& more) {
  seconds += more.seconds;
  others_s += more.others_s;
  steal_s += more.steal_s;
  throttled_s += more.throttled_s;
  processors = std::max(processors, more.processors);
  return *this;
}

Disturbance disturbance(const SystemReading& before, const SystemReading& after) {
  Disturbance found;
  found.throttled_s = std::max(0.0, after.throttled_s - before.throttled_s);
  if (!before.cpu || !after.cpu) return found;
  found.processors = after.cpu->processors;
  found.seconds = std::max(0.0, after.cpu->at_s - before.cpu->at_s);
  found.others_s = others_busy(*before.cpu, *after.cpu) * found.seconds;
  found.steal_s = std::max(0.0, after.cpu->steal_s - before.cpu->steal_s);
  return found;
}

}  // namespace baton
