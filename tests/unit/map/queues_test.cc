// Devices side by side, against the optimum by trying everything.
#include "baton/map/queues.h"

#include <cstdio>

#include <gmock/gmock.h>

#include "baton/map/frontier.h"

#include "map/random_problem.h"

namespace baton {
namespace {

using testing::random_problem;

// The least of `value` over all mappings.
template <class Value>
double least(const MappingProblem& problem, Value&& value) {
  double best = HUGE_VAL;
  std::vector<int> chosen;
  std::vector<bool> covered(static_cast<size_t>(problem.nodes));
  const auto next = [&](auto&& self) -> void {
    const auto open = std::find(covered.begin(), covered.end(), false);
    if (open == covered.end()) {
      if (const auto solution = price(problem, chosen)) best = std::min(best, value(*solution));
      return;
    }
    for (size_t c = 0; c < problem.candidates.size(); ++c) {
      const auto& nodes = problem.candidates[c].nodes;
      if (nodes.front() != open - covered.begin() ||
          std::any_of(nodes.begin(), nodes.end(), [&](int n) { return covered[static_cast<size_t>(n)]; }))
        continue;
      for (const int n : nodes) covered[static_cast<size_t>(n)] = true;
      chosen.push_back(static_cast<int>(c));
      self(self);
      chosen.pop_back();
      for (const int n : nodes) covered[static_cast<size_t>(n)] = false;
    }
  };
  next(next);
  return best;
}

TEST(Queues, NoItemBeginsBeforeWhatItWaitsForAndNoQueueDoesTwoThings) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const MappingProblem problem =
        random_problem(seed, {.nodes = 12, .devices = 3, .tree = seed % 2 == 0, .transfer = 0.2});
    const auto solution = search_frontier(problem, {});
    ASSERT_TRUE(solution);
    const auto items = timeline(problem, *solution);
    std::map<std::pair<int, int>, double> made;
    const MappingIndex index(problem);
    double sum = 0;
    for (const QueueItem& item : items) {
      sum += item.end_us - item.begin_us;
      if (item.step >= 0) {
        const MappingStep& step = solution->steps[static_cast<size_t>(item.step)];
        made[{step.value, step.to}] = item.end_us;
        continue;
      }
      const auto& candidate =
          problem.candidates[static_cast<size_t>(solution->chosen[static_cast<size_t>(item.candidate)])];
      const CandidateValues values = index.values_of(candidate.nodes);
      for (size_t i = 0; i < values.outputs.size(); ++i)
        made[{values.outputs[i], candidate.output_formats[i]}] = item.end_us;
    }
    EXPECT_NEAR(sum, solution->us, 1e-6);
    for (const QueueItem& item : items) {
      if (item.candidate >= 0) {
        const auto& candidate =
            problem.candidates[static_cast<size_t>(solution->chosen[static_cast<size_t>(item.candidate)])];
        const CandidateValues values = index.values_of(candidate.nodes);
        for (size_t i = 0; i < values.inputs.size(); ++i) {
          if (const auto at = made.find({values.inputs[i], candidate.input_formats[i]}); at != made.end()) {
            EXPECT_LE(at->second, item.begin_us + 1e-9) << seed;
          }
        }
      }
      for (const QueueItem& other : items) {
        if (&other != &item && other.queue == item.queue) {
          EXPECT_TRUE(other.end_us <= item.begin_us + 1e-9 || item.end_us <= other.begin_us + 1e-9) << seed;
        }
      }
    }
    EXPECT_LE(latency_us(items), solution->us + 1e-6);
  }
}

TEST(Queues, SearchForLatencyIsNeverWorseThanItsStartAndMostlyNearTheOptimum) {
  double product = 1, worst = 1;
  int count = 0, optimal = 0;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    const MappingProblem problem = random_problem(
        seed + 50, {.nodes = 4 + static_cast<int>(seed % 4), .devices = 2, .transfer = 0.2, .pairs = false});
    const auto start = search_frontier(problem, {});
    ASSERT_TRUE(start);
    const MappingSolution found = search_latency(problem, *start, {});
    EXPECT_LE(found.us, latency_us(timeline(problem, *start)) + 1e-9);
    const double best =
        least(problem, [&](const MappingSolution& s) { return latency_us(timeline(problem, s)); });
    EXPECT_GE(found.us, best - 1e-6);
    EXPECT_LE(found.bound_us, best + 1e-6);
    product *= best / found.us;
    worst = std::min(worst, best / found.us);
    optimal += found.us <= best * (1 + 1e-9);
    ++count;
  }
  EXPECT_GT(std::pow(product, 1.0 / count), 0.98);
  std::printf("latency: geometric mean %.4f of the optimum, least %.4f, %d of %d optimal\n",
              std::pow(product, 1.0 / count), worst, optimal, count);
}

TEST(Queues, WhatDoesNotOverlapTakesItsTime) {
  MappingProblem problem = random_problem(3, {.nodes = 8, .devices = 3, .transfer = 0.1});
  const auto throughput = search_throughput(problem, {});
  ASSERT_TRUE(throughput);
  const auto us_at = [&](double overlap) {
    problem.overlap = overlap;
    return std::pair(interval_us(problem, *throughput), latency_us(problem, *throughput));
  };
  const auto all = us_at(1), half = us_at(0.5), none = us_at(0);
  double serial_us = 0;
  for (const QueueItem& item : timeline(problem, *throughput)) serial_us += item.end_us - item.begin_us;
  EXPECT_LT(all.first, serial_us);
  EXPECT_NEAR(none.first, serial_us, 1e-9);
  EXPECT_NEAR(none.second, serial_us, 1e-9);
  EXPECT_NEAR(half.first, (all.first + none.first) / 2, 1e-9);
  EXPECT_NEAR(half.second, (all.second + none.second) / 2, 1e-9);
  // Where nothing overlaps, the best mapping is that of the serial sum.
  const auto serial = search_frontier(problem, {});
  EXPECT_NEAR(search_throughput(problem, {})->us, serial->us, 1e-6);
}

TEST(Queues, SearchForThroughputHasABoundThatHolds) {
  double product = 1, worst = 1;
  int count = 0, optimal = 0;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    MappingProblem problem = random_problem(seed + 90, {.nodes = 4 + static_cast<int>(seed % 4),
                                                        .devices = 2 + static_cast<int>(seed % 2),
                                                        .transfer = 0.2});
    if (seed % 4 == 3) problem.overlap = 0.01 * static_cast<double>(seed);
    const auto found = search_throughput(problem, {});
    ASSERT_TRUE(found);
    const double best = least(problem, [&](const MappingSolution& s) { return interval_us(problem, s); });
    EXPECT_NEAR(found->us, interval_us(problem, *found), 1e-9);
    EXPECT_GE(found->us, best - 1e-6);
    EXPECT_LE(found->bound_us, best + 1e-6);
    product *= best / found->us;
    worst = std::min(worst, best / found->us);
    optimal += found->us <= best * (1 + 1e-9);
    ++count;
  }
  EXPECT_GT(std::pow(product, 1.0 / count), 0.98);
  std::printf("throughput: geometric mean %.4f of the optimum, least %.4f, %d of %d optimal\n",
              std::pow(product, 1.0 / count), worst, optimal, count);
}

}  // namespace
}  // namespace baton
