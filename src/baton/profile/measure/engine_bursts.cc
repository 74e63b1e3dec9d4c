#include "baton/profile/measure/engine_bursts.h"

#include <algorithm>

namespace baton {

namespace {

constexpr size_t kFewestForMedian = 3;

EngineBurst watched_burst(const Engine& engine, const SystemSource& system) {
  const SystemReading before = system();
  EngineBurst burst = engine.burst();
  Disturbance found = disturbance(before, system());
  // Another process is "other programs" to the system, and the engine itself to us.
  if (!engine.in_process) found.others_s = std::max(0.0, found.others_s - burst.cpu);
  burst.quiet = !found.any();
  return burst;
}

std::vector<double> walls(const std::vector<EngineBurst>& bursts, bool only_quiet) {
  std::vector<double> found;
  for (const EngineBurst& burst : bursts)
    if (burst.quiet || !only_quiet) found.push_back(burst.wall / burst.runs);
  return found;
}

}  // namespace

void run_bursts(std::vector<Engine>& engines, int count, const std::function<void(int round)>& progress,
                const SystemSource& system) {
  const auto enough = [&] {
    return std::all_of(engines.begin(), engines.end(),
                       [&](const Engine& engine) { return count_quiet(engine.bursts) >= count; });
  };
  for (int round = 0; round < count || (round < 2 * count && !enough()); ++round) {
    progress(round);
    for (Engine& engine : engines) engine.bursts.push_back(watched_burst(engine, system));
  }
}

double lowest(const std::vector<EngineBurst>& bursts, double EngineBurst::* what) {
  double best = 1e300;
  for (const EngineBurst& burst : bursts) best = std::min(best, burst.*what / burst.runs);
  return best;
}

double median_wall(const std::vector<EngineBurst>& bursts) {
  std::vector<double> values = walls(bursts, true);
  if (values.size() < kFewestForMedian) values = walls(bursts, false);
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

int count_quiet(const std::vector<EngineBurst>& bursts) {
  return static_cast<int>(
      std::count_if(bursts.begin(), bursts.end(), [](const EngineBurst& burst) { return burst.quiet; }));
}

}  // namespace baton
