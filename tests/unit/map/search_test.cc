// Searches against the optimum by trying everything.
#include <cmath>

#include <gmock/gmock.h>

#include "baton/map/frontier.h"
#include "baton/map/milp.h"
#include "baton/support/error.h"

#include "map/random_problem.h"

namespace baton {
namespace {

using testing::brute_force;
using testing::random_problem;
using testing::RandomProblem;

class Searches : public ::testing::TestWithParam<bool> {};

TEST_P(Searches, FindTheOptimumOfTwoHundredRandomGraphs) {
  int partly = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const MappingProblem problem = random_problem(seed, {.nodes = 3 + static_cast<int>(seed % 6),
                                                         .devices = 2 + static_cast<int>(seed % 3),
                                                         .tree = GetParam(),
                                                         .transfer = 0.1 * static_cast<double>(seed % 13)});
    check(problem);
    const auto best = brute_force(problem);
    ASSERT_TRUE(best) << seed;
    const auto found = search_frontier(problem, {});
    ASSERT_TRUE(found) << seed;
    EXPECT_GE(found->us, best->us - 1e-6) << seed;
    EXPECT_LE(found->bound_us, best->us + 1e-6) << seed;
    EXPECT_LE(found->us, best->us * (GetParam() ? 1 + 1e-9 : 1 / 0.98)) << seed;
    if (GetParam()) {
      EXPECT_EQ(found->bound_us, found->us) << seed;
    }
    const auto priced = price(problem, found->chosen);
    ASSERT_TRUE(priced);
    EXPECT_DOUBLE_EQ(priced->us, found->us);
    partly += std::set<int>([&] {
                std::set<int> devices;
                for (const int c : found->chosen)
                  devices.insert(problem.candidates[static_cast<size_t>(c)].device);
                return devices;
              }())
                  .size() > 1;
  }
  EXPECT_GT(partly, 40);  // the graphs are such that mixtures win
}

// Layers in layouts of their own, and 4 to 11 nodes: as fused functions of a model with variants.
class SearchesWithLayouts : public ::testing::TestWithParam<std::tuple<bool, uint32_t>> {};
TEST_P(SearchesWithLayouts, FindTheOptimumOfAHundredRandomGraphs) {
  const auto [tree, first] = GetParam();
  int mixed = 0;
  double product = 1, worst = 1;
  for (uint32_t seed = first; seed < first + 100; ++seed) {
    const MappingProblem problem =
        random_problem(seed + 5000, {.nodes = 4 + static_cast<int>(seed % 8),
                                     .devices = 1 + static_cast<int>(seed % 2),
                                     .tree = tree,
                                     .transfer = 0.1 * static_cast<double>(seed % 13),
                                     .variants = true});
    check(problem);
    const auto best = brute_force(problem);
    ASSERT_TRUE(best) << seed;
    const auto found = search_frontier(problem, {});
    ASSERT_TRUE(found) << seed;
    EXPECT_LE(found->bound_us, best->us + 1e-6) << seed;
    EXPECT_LE(found->us, best->us / 0.98) << seed;
    product *= best->us / found->us;
    worst = std::min(worst, best->us / found->us);
    std::set<int> formats;
    for (const int c : found->chosen)
      for (const int format : problem.candidates[static_cast<size_t>(c)].output_formats)
        formats.insert(format);
    mixed += formats.size() > 1;
  }
  EXPECT_GT(mixed, 50);
  EXPECT_GE(std::pow(product, 1.0 / 100), 0.999);
  RecordProperty("worst", std::to_string(worst));
}

TEST_P(Searches, ByCbcFindTheOptimumWithLimits) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    MappingProblem problem = random_problem(
        seed + 1000,
        {.nodes = 4 + static_cast<int>(seed % 4), .devices = 3, .tree = GetParam(), .transfer = 0.3});
    if (seed % 2) problem.memory_limits[1 + seed / 2 % 2] = 60;
    if (seed % 3 == 0) problem.max_candidates = problem.nodes - 1;
    const auto best = brute_force(problem);
    const MilpResult found = solve_milp(problem, {});
    EXPECT_EQ(found.infeasible, !best) << seed;
    if (!best) continue;
    ASSERT_TRUE(found.solution) << seed;
    EXPECT_NEAR(found.solution->us, best->us, 1e-5 * best->us) << seed;
    EXPECT_LE(found.bound_us, best->us * (1 + 1e-5)) << seed;
    const auto beam = search_frontier(problem, {});
    if (beam) {
      EXPECT_GE(beam->us, best->us - 1e-6) << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(LinksThatFormATree, Searches, ::testing::Bool());
INSTANTIATE_TEST_SUITE_P(LinksThatFormATree, SearchesWithLayouts,
                         ::testing::Combine(::testing::Bool(), ::testing::Values(0u, 100u)));

TEST(Search, ANarrowBeamHasAGapThatHolds) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const MappingProblem problem = random_problem(seed, {.nodes = 9, .devices = 4, .transfer = 0.4});
    const auto exact = search_frontier(problem, {});
    const auto narrow = search_frontier(problem, {.width = 2});
    ASSERT_TRUE(exact);
    if (!narrow) continue;
    EXPECT_GE(narrow->us, exact->us - 1e-9);
    EXPECT_LE(narrow->bound_us, exact->us + 1e-9);
    EXPECT_GE(narrow->gap(), 0);
  }
}

TEST(Search, CandidatesThatWaitForEachOtherAreNotChosenTogether) {
  // 0 -> 1 and 2 -> 3 cross: {0, 3} and {1, 2} would each need what the other makes.
  MappingProblem problem;
  problem.nodes = 4;
  problem.formats = {{"cpu", 0}};
  problem.conversions = {{std::nullopt}};
  problem.memory_limits = {0};
  problem.values = {{.consumers = {0, 2}, .given = 0},
                    {.producer = 0, .consumers = {1}},
                    {.producer = 1, .required = {0}},
                    {.producer = 2, .consumers = {3}},
                    {.producer = 3, .required = {0}}};
  const MappingIndex index(problem);
  const auto add = [&](std::vector<int> nodes, double us) {
    const CandidateValues values = index.values_of(nodes);
    problem.candidates.push_back({.nodes = nodes,
                                  .us = us,
                                  .input_formats = std::vector<int>(values.inputs.size()),
                                  .output_formats = std::vector<int>(values.outputs.size())});
  };
  for (int n = 0; n < 4; ++n) add({n}, 10);
  add({0, 3}, 1);
  add({1, 2}, 1);
  check(problem);
  EXPECT_FALSE(price(problem, std::vector<int>{4, 5}));
  const auto found = search_frontier(problem, {});
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->us, 21);
  const MilpResult milp = solve_milp(problem, {});
  ASSERT_TRUE(milp.solution);
  EXPECT_NEAR(milp.solution->us, 21, 1e-6);
}

TEST(Search, ALongChainOfManyDevicesIsQuick) {
  const MappingProblem problem =
      random_problem(7, {.nodes = 300, .devices = 8, .transfer = 0.2, .pairs = false});
  const auto found = search_frontier(problem, {.width = 64});
  ASSERT_TRUE(found);
  EXPECT_GE(found->gap(), 0);
  EXPECT_LT(found->gap(), 0.5);
}

TEST(MappingProblems, ThatMakeNoSenseAreRefused) {
  const MappingProblem good = random_problem(1, {});
  check(good);
  const auto refused = [&](auto&& change, const std::string& what) {
    MappingProblem bad = good;
    change(bad);
    try {
      check(bad);
      ADD_FAILURE() << "accepted: " << what;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr(what));
    }
  };
  refused([](MappingProblem& p) { p.candidates[0].us = -1; }, "costs -1");
  refused([](MappingProblem& p) { p.candidates[0].us = std::numeric_limits<double>::infinity(); },
          "costs inf");
  refused([](MappingProblem& p) { p.candidates[0].us = std::nan(""); }, "costs");
  refused([](MappingProblem& p) { p.candidates[0].nodes = {99}; }, "is 99");
  refused([](MappingProblem& p) { p.candidates[0].device = 9; }, "the device of candidate 0");
  refused([](MappingProblem& p) { p.candidates[0].input_formats.push_back(0); }, "formats for");
  refused([](MappingProblem& p) { p.values[1].consumers = {0}; }, "before node 0 produces it");
  refused(
      [](MappingProblem& p) {
        std::erase_if(p.candidates,
                      [](const MappingCandidate& c) { return c.nodes.front() == 0 || c.nodes.back() == 0; });
      },
      "no candidate computes node 0");
}

}  // namespace
}  // namespace baton
