#include "baton/cli/bench_bursts.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace baton::cli {

namespace {

constexpr size_t kFewest = 3;  // bursts that a median is taken of

Burst watched(const Engine& engine, double min_ms, const SystemSource& system) {
  const SystemReading before = system();
  Burst burst = engine.burst(min_ms);
  Disturbance found = disturbance(before, system());
  if (!engine.in_process) found.others_s = std::max(0.0, found.others_s - burst.cpu);
  burst.quiet = !found.any();
  return burst;
}

std::vector<double> walls(const std::vector<Burst>& bursts, bool only_quiet) {
  std::vector<double> found;
  for (const Burst& burst : bursts)
    if (burst.quiet || !only_quiet) found.push_back(burst.wall / burst.runs);
  return found;
}

}  // namespace

void run_bursts(std::vector<Engine>& engines, int count, double min_ms,
                const std::function<void(int round)>& progress, const SystemSource& system) {
  const auto enough = [&] {
    return std::all_of(engines.begin(), engines.end(),
                       [&](const Engine& engine) { return count_quiet(engine.bursts) >= count; });
  };
  for (int round = 0; round < count || (round < 2 * count && !enough()); ++round) {
    progress(round);
    for (Engine& engine : engines) engine.bursts.push_back(watched(engine, min_ms, system));
  }
}

double lowest(const std::vector<Burst>& bursts, double Burst::* what) {
  double best = 1e300;
  for (const Burst& burst : bursts) best = std::min(best, burst.*what / burst.runs);
  return best;
}

double median_wall(const std::vector<Burst>& bursts) {
  std::vector<double> values = walls(bursts, true);
  if (values.size() < kFewest) values = walls(bursts, false);
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

int count_quiet(const std::vector<Burst>& bursts) {
  return static_cast<int>(
      std::count_if(bursts.begin(), bursts.end(), [](const Burst& burst) { return burst.quiet; }));
}

nlohmann::ordered_json times_of(const std::vector<Burst>& bursts) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Burst& burst : bursts)
    list.push_back({{"runs", burst.runs}, {"cpu", burst.cpu}, {"wall", burst.wall}, {"quiet", burst.quiet}});
  return {{"best_cpu_s", lowest(bursts, &Burst::cpu)},
          {"best_wall_s", lowest(bursts, &Burst::wall)},
          {"median_wall_s", median_wall(bursts)},
          {"quiet", count_quiet(bursts)},
          {"bursts", std::move(list)}};
}

}  // namespace baton::cli
