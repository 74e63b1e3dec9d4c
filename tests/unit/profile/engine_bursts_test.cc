#include "baton/profile/measure/engine_bursts.h"

#include <gtest/gtest.h>

namespace baton {
namespace {

/// A machine of two processors on which time passes only while engines run.
struct Machine {
  double seconds = 0, all_s = 0, own_s = 0;

  SystemSource source() {
    return [this] { return SystemReading{CpuUse{all_s, own_s, seconds, 2}, 0}; };
  }
  /// A burst of two runs, `busy` processors used by it and `others` by other programs, for a second.
  EngineBurst burst(double busy, double others, bool in_process) {
    seconds += 1;
    all_s += busy + others;
    if (in_process) own_s += busy;
    return {2, busy, 1};
  }
};

TEST(EngineBursts, EnginesTakeTurns) {
  Machine machine;
  std::string order;
  std::vector<Engine> engines(2);
  engines[0].burst = [&] { return order += 'a', machine.burst(1, 0, true); };
  engines[1] = {[&] { return order += 'b', machine.burst(2, 0, false); }, /*in_process=*/false};
  std::vector<int> rounds;
  run_bursts(engines, 3, [&](int round) { rounds.push_back(round); }, machine.source());
  EXPECT_EQ(order, "ababab");
  EXPECT_EQ(rounds, (std::vector<int>{0, 1, 2}));
  // What another process uses is no disturbance of its own burst.
  EXPECT_EQ(count_quiet(engines[1].bursts), 3);
  EXPECT_EQ(lowest(engines[1].bursts, &EngineBurst::cpu), 1);
  EXPECT_EQ(median_wall(engines[0].bursts), 0.5);
}

TEST(EngineBursts, DisturbedOnesAreRepeatedAndDoNotCount) {
  Machine machine;
  int done = 0;
  std::vector<Engine> engines(1);
  engines[0].burst = [&] {
    const bool disturbed = done++ < 2;
    EngineBurst burst = machine.burst(1, disturbed ? 1 : 0, true);
    burst.wall = disturbed ? 9 : 1;
    return burst;
  };
  run_bursts(engines, 4, [](int) {}, machine.source());
  EXPECT_EQ(engines[0].bursts.size(), 6U);
  EXPECT_EQ(count_quiet(engines[0].bursts), 4);
  EXPECT_EQ(median_wall(engines[0].bursts), 0.5);
  EXPECT_EQ(lowest(engines[0].bursts, &EngineBurst::wall), 0.5);
}

// `bench` gave numbers from beside other programs without a mark.
TEST(EngineBursts, AlwaysDisturbedEndsWithTheLeastDisturbedAndSaysSo) {
  Machine machine;
  int done = 0;
  std::vector<Engine> engines(1);
  engines[0].burst = [&] {
    EngineBurst burst = machine.burst(1, 1, true);
    burst.wall = done++ % 3 ? 2 : 1;
    return burst;
  };
  run_bursts(engines, 5, [](int) {}, machine.source());
  EXPECT_EQ(engines[0].bursts.size(), 10U);
  EXPECT_EQ(count_quiet(engines[0].bursts), 0);
  EXPECT_EQ(median_wall(engines[0].bursts), 0.5);
  EXPECT_EQ(load_of(engines[0].bursts), "1.0 of 2 processors busy elsewhere");
  for (EngineBurst& burst : engines[0].bursts) burst.quiet = true;
  EXPECT_EQ(load_of(engines[0].bursts), "");
}

TEST(EngineBursts, ARatioHasAnInterval) {
  const auto bursts = [](std::initializer_list<double> walls) {
    std::vector<EngineBurst> made;
    for (const double wall : walls) made.push_back({1, wall, wall});
    return made;
  };
  // Both slow down together.
  EXPECT_NEAR(*ratio_interval(bursts({1, 2, 3, 4}), bursts({2, 4, 6, 8})), 0, 1e-9);
  EXPECT_GT(*ratio_interval(bursts({1, 2, 1, 2}), bursts({2, 2, 2, 2})), 0.3);
  EXPECT_FALSE(ratio_interval(bursts({1, 2}), bursts({2, 2})));
}

}  // namespace
}  // namespace baton
