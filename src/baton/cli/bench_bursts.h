#pragma once
// Bursts of runs of several engines in turn, for `baton bench`.
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "baton/profile/measure/disturbance.h"

namespace baton::cli {

/// Runs timed together: their number and total time.
struct Burst {
  int runs = 0;
  double cpu = 0, wall = 0;  ///< seconds
  bool quiet = true;         ///< other programs left the machine alone
};

/// One engine and its bursts.
struct Engine {
  std::string name;
  std::function<Burst(double min_ms)> burst;
  bool in_process = true;  ///< false: its CPU time is that of another process
  std::vector<Burst> bursts{};
};

/// Lets every engine have at least `count` bursts, in turn, and up to twice as many until each has `count`
/// quiet ones. `progress`: called before each round.
void run_bursts(std::vector<Engine>& engines, int count, double min_ms,
                const std::function<void(int round)>& progress, const SystemSource& system = read_system);

/// The lowest time per run of any burst.
double lowest(const std::vector<Burst>& bursts, double Burst::* what);

/// The median wall time per run of the quiet bursts; of all when less than three are quiet.
double median_wall(const std::vector<Burst>& bursts);

int count_quiet(const std::vector<Burst>& bursts);

/// {"best_cpu_s", "best_wall_s", "median_wall_s", "quiet", "bursts"}
nlohmann::ordered_json times_of(const std::vector<Burst>& bursts);

}  // namespace baton::cli
