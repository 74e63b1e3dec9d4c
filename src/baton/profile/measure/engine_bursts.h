#pragma once
// Bursts of runs of several engines in turn, as `baton bench` compares them.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "baton/clock/disturbance.h"

namespace baton {

/// Runs of one engine that were timed together.
struct EngineBurst {
  int runs = 0;
  double cpu = 0, wall = 0;       ///< seconds, of all runs
  bool quiet = true;              ///< other programs left the machine alone
  std::string disturbed_by = {};  ///< what did not; empty: quiet
};

struct Engine {
  std::function<EngineBurst()> burst;
  bool in_process = true;  ///< false: its CPU time is that of another process
  std::vector<EngineBurst> bursts{};
};

/// Lets every engine have at least `count` bursts, one after the other in each round, and up to twice as many
/// until each has `count` quiet ones. `progress`: called before each round.
void run_bursts(std::vector<Engine>& engines, int count, const std::function<void(int round)>& progress,
                const SystemSource& system = read_system);

/// The lowest time per run (`cpu` or `wall`) of any burst.
double lowest(const std::vector<EngineBurst>& bursts, double EngineBurst::* what);

/// The median wall time per run of the quiet bursts; when fewer than three are quiet, that of the least
/// disturbed ones.
double median_wall(const std::vector<EngineBurst>& bursts);

/// Half of the 95 % interval of the ratio of two engines' wall times, whose bursts alternate; nullopt: too
/// few.
std::optional<double> ratio_interval(const std::vector<EngineBurst>& ours,
                                     const std::vector<EngineBurst>& theirs);

/// What disturbed the bursts, where fewer than three were quiet; else empty.
std::string load_of(const std::vector<EngineBurst>& bursts);

int count_quiet(const std::vector<EngineBurst>& bursts);

}  // namespace baton
