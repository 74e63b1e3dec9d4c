#include "baton/profile/measure/engine_bursts.h"

#include <algorithm>

#include "baton/clock/estimate.h"

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
  burst.disturbed_by = found.text();
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
  if (values.size() < kFewestForMedian) return least_disturbed_us(walls(bursts, false));
  return median(std::move(values));
}

std::optional<double> ratio_interval(const std::vector<EngineBurst>& ours,
                                     const std::vector<EngineBurst>& theirs) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i)
    ratios.push_back(ours[i].wall / ours[i].runs / (theirs[i].wall / theirs[i].runs));
  return rounds_interval(ratios);
}

std::string load_of(const std::vector<EngineBurst>& bursts) {
  if (count_quiet(bursts) >= static_cast<int>(kFewestForMedian)) return "";
  const auto loaded = std::ranges::find_if(bursts, [](const EngineBurst& burst) { return !burst.quiet; });
  return loaded == bursts.end() ? "" : loaded->disturbed_by;
}

int count_quiet(const std::vector<EngineBurst>& bursts) {
  return static_cast<int>(
      std::count_if(bursts.begin(), bursts.end(), [](const EngineBurst& burst) { return burst.quiet; }));
}

}  // namespace baton
