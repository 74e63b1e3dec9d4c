// What other machines would give, by the prices of random problems.
#include "baton/map/model/sweep.h"

#include <cmath>

#include <gmock/gmock.h>

#include "baton/map/frontier.h"
#include "baton/map/machine_changes.h"
#include "baton/map/queues.h"
#include "baton/support/error.h"

#include "map/random_problem.h"

namespace baton {
namespace {

using ::testing::AllOf;
using testing::brute_force;
using ::testing::HasSubstr;
using testing::random_problem;
using testing::RandomProblem;

/// An operator per node, a backend per device; all of device 0 is the only backend alone.
MapResult result_of(MappingProblem problem, MapObjective objective) {
  MapResult result;
  result.report.objective = objective;
  const auto nodes = static_cast<size_t>(problem.nodes);
  for (size_t d = 0; d < problem.memory_limits.size(); ++d)
    result.report.backends.push_back("backend " + std::to_string(d));
  result.origins.operators.resize(nodes);
  for (uint32_t n = 0; n < nodes; ++n) result.priced.operators.push_back({n});
  result.singles.resize(problem.memory_limits.size());
  for (size_t c = 0; c < problem.candidates.size(); ++c) {
    const MappingCandidate& each = problem.candidates[c];
    ModelProblem::Candidate candidate;
    candidate.backend = static_cast<size_t>(each.device);
    result.priced.candidates.push_back(candidate);
    if (each.device == 0 && each.nodes.size() == 1) result.singles[0].push_back(static_cast<int>(c));
  }
  result.priced.problem = std::move(problem);
  return result;
}

MapResult random_result(uint32_t seed, MapObjective objective = MapObjective::kSerial,
                        RandomProblem options = {.nodes = 6, .devices = 3, .transfer = 0.5}) {
  return result_of(random_problem(seed, options), objective);
}

MapSweep swept(const MapResult& result, const std::string& what, int points = 5) {
  return sweep(result, parse_sweep(what), {.points = points, .seconds = 0.05});
}

constexpr MapObjective kObjectives[] = {MapObjective::kSerial, MapObjective::kLatency,
                                        MapObjective::kThroughput};

TEST(Sweeps, FindTheOptimumOfEachMachine) {
  for (uint32_t seed = 0; seed < 12; ++seed) {
    const MapResult result = random_result(seed);
    for (const SweepPoint& point : swept(result, "link=0.1:10").points)
      EXPECT_NEAR(point.best_us, brute_force(with_links(result.priced.problem, point.factor))->us, 1e-6)
          << seed << " links " << point.factor;
    for (const SweepPoint& point : swept(result, "compute=0.1:10").points)
      EXPECT_NEAR(point.best_us, brute_force(with_compute(result.priced.problem, point.factor))->us, 1e-6)
          << seed << " compute " << point.factor;
  }
}

TEST(Sweeps, BetterMachinesAreNeverSlower) {
  for (uint32_t seed = 0; seed < 6; ++seed)
    for (const MapObjective objective : kObjectives) {
      MapResult result = random_result(seed + 40, objective);
      for (size_t d = 1; d < result.priced.problem.memory_limits.size(); ++d)
        result.priced.problem.memory_limits[d] = 60;
      for (const char* what : {"link=0.1:10", "compute=0.1:10", "memory=0.1:10", "devices=1:3"}) {
        const MapSweep found = swept(result, what);
        ASSERT_FALSE(found.points.empty());
        for (size_t i = 0; i < found.points.size(); ++i) {
          const SweepPoint& point = found.points[i];
          EXPECT_LE(point.best_us, point.best_single_us + 1e-6) << what;
          if (i == 0) continue;
          EXPECT_GT(point.factor, found.points[i - 1].factor);
          EXPECT_LE(point.best_us, found.points[i - 1].best_us + 1e-6)
              << what << " " << point.factor << " " << objective_name(objective) << " " << seed;
        }
      }
    }
}

TEST(Sweeps, SayWhatTheBestMappingDoes) {
  for (uint32_t seed = 0; seed < 10; ++seed) {
    const MapResult result = random_result(seed + 70);
    for (const char* what : {"link=0.01:100", "compute=0.5:20", "devices=1:2"})
      for (const SweepPoint& point : swept(result, what).points) {
        ASSERT_EQ(point.backend_of.size(), 6u);
        double us = point.transfers.us;
        for (const double each : point.backend_us) us += each;
        EXPECT_NEAR(us, point.best_us, 1e-6) << what;  // serial, and formats are devices
        const bool elsewhere = std::ranges::any_of(point.backend_of, [](int b) { return b > 0; });
        EXPECT_EQ(elsewhere, point.moved > 0);
        EXPECT_EQ(elsewhere, point.transfers.count > 0);  // inputs and results are the processor's
        EXPECT_THAT(point.best_single, HasSubstr("backend"));
      }
  }
}

TEST(Sweeps, NothingFitsIntoNoMemoryAndAllIntoEnough) {
  for (uint32_t seed = 0; seed < 8; ++seed) {
    MapResult result = random_result(seed + 120);
    const double without_limits = search_frontier(result.priced.problem, {})->us;
    for (size_t d = 1; d < result.priced.problem.memory_limits.size(); ++d)
      result.priced.problem.memory_limits[d] = 50;
    const MapSweep found = swept(result, "memory=0.0001:100", 7);
    EXPECT_EQ(found.points.front().moved, 0u);
    EXPECT_NEAR(found.points.back().best_us, without_limits, 1e-6);
    for (const SweepPoint& point : found.points)
      EXPECT_NEAR(point.best_us, brute_force(with_memory(result.priced.problem, point.factor))->us,
                  0.1 * point.best_us);
  }
}

TEST(Sweeps, ABackendWhoseWholeDidNotFitIsPricedWhereItDoes) {
  // Two nodes; the device is ten times as fast, and has room for one of them.
  MappingProblem problem;
  problem.nodes = 2;
  problem.memory_limits = {0, 100};
  problem.formats = {{"cpu", 0}, {"card", 1}};
  problem.conversions.assign(2, std::vector<std::optional<MappingConversion>>(2));
  problem.conversions[0][1] = problem.conversions[1][0] = MappingConversion{1, 0};
  problem.values = {
      {.consumers = {0}, .given = 0}, {.producer = 0, .consumers = {1}}, {.producer = 1, .required = {0}}};
  for (const int device : {0, 1})
    for (const int node : {0, 1})
      problem.candidates.push_back({.nodes = {node},
                                    .us = device ? 10.0 : 100.0,
                                    .memory = 80,
                                    .device = device,
                                    .input_formats = {device},
                                    .output_formats = {device}});
  const MapSweep found = swept(result_of(problem, MapObjective::kSerial), "memory=1:2", 2);
  EXPECT_DOUBLE_EQ(found.points[0].best_single_us, 200);
  EXPECT_EQ(found.points[0].best_single, "backend 0");
  EXPECT_DOUBLE_EQ(found.points[0].best_us, 112);
  EXPECT_DOUBLE_EQ(found.points[1].best_single_us, 22);
  EXPECT_EQ(found.points[1].best_single, "backend 1");
  EXPECT_DOUBLE_EQ(found.points[1].best_us, 22);
}

TEST(Sweeps, MoreDevicesChangeNothingOneAfterTheOther) {
  const MapResult result = random_result(5);
  const MapSweep found = swept(result, "devices=1:4");
  ASSERT_EQ(found.points.size(), 4u);
  for (const SweepPoint& point : found.points) {
    EXPECT_DOUBLE_EQ(point.factor, 1 + static_cast<double>(&point - found.points.data()));
    EXPECT_NEAR(point.best_us, found.points[0].best_us, 1e-9);
  }
  EXPECT_THAT(found.note, HasSubstr("--objective latency and throughput use them side by side"));
  EXPECT_EQ(swept(random_result(5, MapObjective::kLatency), "devices=1:2").note, "");
}

TEST(Sweeps, AStreamGoesToDevicesInTurn) {
  // All on the device, whose link is free: twice as many take half as long per input.
  MappingProblem problem = random_problem(3, {.nodes = 5, .devices = 2, .transfer = 0, .pairs = false});
  for (MappingCandidate& each : problem.candidates) each.us = each.device ? 10 : 1000;
  const MapSweep found = swept(result_of(problem, MapObjective::kThroughput), "devices=1:4");
  ASSERT_EQ(found.points.size(), 4u);
  if (found.points[0].moved == 5) {
    EXPECT_NEAR(found.points[1].best_us, found.points[0].best_us / 2, 1e-6);
    EXPECT_NEAR(found.points[3].best_us, found.points[0].best_us / 4, 1e-6);
  }
  EXPECT_LT(found.points[3].best_us, found.points[0].best_us);
}

TEST(Sweeps, TwoBranchesGoToTwoDevices) {
  // One value, two long readers, their sum: side by side on two cards, one after the other on one.
  MappingProblem problem;
  problem.nodes = 4;
  problem.memory_limits = {0, 0};
  problem.formats = {{"cpu", 0}, {"card", 1}};
  problem.conversions.assign(2, std::vector<std::optional<MappingConversion>>(2));
  problem.conversions[0][1] = problem.conversions[1][0] = MappingConversion{1, 0};
  problem.values = {{.consumers = {0}, .given = 0},
                    {.producer = 0, .consumers = {1, 2}},
                    {.producer = 1, .consumers = {3}},
                    {.producer = 2, .consumers = {3}},
                    {.producer = 3, .required = {0}}};
  const auto add = [&](int node, int device, double us, size_t inputs) {
    problem.candidates.push_back({.nodes = {node},
                                  .us = us,
                                  .device = device,
                                  .input_formats = std::vector<int>(inputs, device),
                                  .output_formats = {device}});
  };
  add(0, 0, 5, 1), add(1, 0, 1000, 1), add(2, 0, 1000, 1), add(3, 0, 5, 2);
  add(1, 1, 100, 1), add(2, 1, 100, 1);
  const MapSweep found = swept(result_of(problem, MapObjective::kLatency), "devices=1:3");
  EXPECT_NEAR(found.points[0].best_us, 5 + 1 + 200 + 1 + 5, 1e-9);
  EXPECT_NEAR(found.points[1].best_us, 5 + 1 + 100 + 1 + 5, 1e-9);
  EXPECT_NEAR(found.points[2].best_us, found.points[1].best_us, 1e-9);
  EXPECT_EQ(found.points[1].backend_of, (std::vector<int>{0, 1, 1, 0}));
  EXPECT_EQ(found.points[1].transfers.count, 4);
}

TEST(Sweeps, AreNotSlowerThanWhatWasBuilt) {
  // Searches for streams are no exact ones: what was built before counts, too.
  for (uint32_t seed = 0; seed < 6; ++seed) {
    MapResult result =
        random_result(seed, MapObjective::kThroughput, {.nodes = 7, .devices = 3, .transfer = 0.3});
    const auto built = search_throughput(result.priced.problem, {.seconds = 2, .rounds = 1000});
    ASSERT_TRUE(built);
    result.known.push_back(built->chosen);
    const MapSweep found = sweep(result, parse_sweep("compute=1:1"), {.seconds = 1e-9});
    EXPECT_LE(found.points.front().best_us, built->us + 1e-9);
  }
}

TEST(Sweeps, EndEarlyWhenAsked) {
  const std::atomic<bool> stop = true;
  const MapSweep found = sweep(random_result(1), parse_sweep("link=0.1:10"), {.interrupt = &stop});
  EXPECT_EQ(found.partial, "interrupted");
  EXPECT_TRUE(found.points.empty());
}

TEST(MachineChanges, DevicesKeepTheirNumbersAndTheirOptimum) {
  for (uint32_t seed = 0; seed < 10; ++seed) {
    const MappingProblem problem =
        random_problem(seed, {.nodes = 4, .devices = 3, .tree = seed % 2 == 0, .transfer = 0.3});
    const MultipliedProblem two = with_devices(problem, 2), three = with_devices(problem, 3);
    check(two.problem);
    check(three.problem);
    EXPECT_EQ(with_devices(problem, 1).problem.candidates.size(), problem.candidates.size());
    ASSERT_LT(two.problem.candidates.size(), three.problem.candidates.size());
    for (size_t c = 0; c < two.problem.candidates.size(); ++c) {
      EXPECT_EQ(two.original[c], three.original[c]);
      EXPECT_EQ(two.problem.candidates[c].device, three.problem.candidates[c].device);
      EXPECT_EQ(two.problem.candidates[c].input_formats, three.problem.candidates[c].input_formats);
      EXPECT_EQ(two.problem.candidates[c].us, problem.candidates[static_cast<size_t>(two.original[c])].us);
    }
    EXPECT_NEAR(search_frontier(two.problem, {})->us, brute_force(problem)->us, 1e-6) << seed;
    // Nothing leads from a device to another of its kind, or from a format to itself.
    for (size_t f = problem.formats.size(); f < two.problem.formats.size(); ++f)
      for (size_t g = 1; g < two.problem.formats.size(); ++g)
        if (two.problem.formats[f].name == two.problem.formats[g].name + " 2") {
          EXPECT_FALSE(two.problem.conversions[f][g].has_value());
        }
  }
}

TEST(MachineChanges, TouchOnlyWhatTheySay) {
  const MappingProblem problem = random_problem(9, {.nodes = 6, .devices = 3});
  const MappingProblem links = with_links(problem, 4), compute = with_compute(problem, 4),
                       turns = in_turns(problem, 4);
  for (size_t c = 0; c < problem.candidates.size(); ++c) {
    const double us = problem.candidates[c].us, part = problem.candidates[c].device ? 4 : 1;
    EXPECT_DOUBLE_EQ(links.candidates[c].us, us);
    EXPECT_DOUBLE_EQ(compute.candidates[c].us, us / part);
    EXPECT_DOUBLE_EQ(turns.candidates[c].us, us / part);
  }
  for (size_t f = 0; f < problem.formats.size(); ++f)
    for (size_t g = 0; g < problem.formats.size(); ++g) {
      if (!problem.conversions[f][g]) continue;
      EXPECT_DOUBLE_EQ(links.conversions[f][g]->fixed_us, problem.conversions[f][g]->fixed_us / 4);
      EXPECT_DOUBLE_EQ(compute.conversions[f][g]->fixed_us, problem.conversions[f][g]->fixed_us);
      EXPECT_DOUBLE_EQ(turns.conversions[f][g]->us_per_byte, problem.conversions[f][g]->us_per_byte / 4);
    }
}

TEST(Sweeps, BadLimitsAreRefused) {
  const auto refused = [](const std::string& text) -> std::string {
    try {
      parse_sweep(text);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "taken";
  };
  for (const char* text :
       {"link=2:1", "link=0:1", "link=-1:1", "link=1", "link=1:inf", "link=1:2x", "link", "link="})
    EXPECT_THAT(refused(text), HasSubstr("write --sweep link=0.1:100")) << text;
  for (const char* text : {"devices=0:4", "devices=1.5:4", "devices=1:17", "devices=3:2", "devices=1:nan"})
    EXPECT_THAT(refused(text), HasSubstr("whole numbers up to 16")) << text;
  EXPECT_THAT(refused("memory=much:more"), HasSubstr("memory=0.1:10"));
  EXPECT_THAT(refused("compute=1:"), HasSubstr("compute=0.1:10"));
  EXPECT_THAT(refused("linc=1:2"), AllOf(HasSubstr("there are link, devices, memory and compute"),
                                         HasSubstr("did you mean `link`?")));
  EXPECT_EQ(refused("devices=1:16"), "taken");
  EXPECT_EQ(refused("memory=2:2"), "taken");
}

}  // namespace
}  // namespace baton
