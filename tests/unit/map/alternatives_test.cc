// What operators would cost elsewhere, on random problems.
#include "baton/map/model/alternatives.h"

#include <gmock/gmock.h>

#include "baton/map/frontier.h"

#include "map/random_problem.h"

namespace baton {
namespace {

using testing::brute_force;
using testing::random_problem;

/// An operator per node, a backend per device.
ModelProblem model_of(MappingProblem problem) {
  ModelProblem model;
  for (uint32_t n = 0; n < static_cast<uint32_t>(problem.nodes); ++n) model.operators.push_back({n});
  for (const MappingCandidate& each : problem.candidates) {
    ModelProblem::Candidate candidate;
    candidate.backend = static_cast<size_t>(each.device);
    model.candidates.push_back(candidate);
  }
  model.problem = std::move(problem);
  return model;
}

MappedAlternative on(const std::vector<MappedAlternative>& alternatives, const std::string& backend) {
  const auto at = std::ranges::find(alternatives, backend, &MappedAlternative::backend);
  return at == alternatives.end() ? MappedAlternative{} : *at;
}

const std::vector<std::string> kBackends{"a", "b", "c"};

AlternativeOptions without_layers(const std::vector<std::string>& backends, size_t operators,
                                  MapObjective objective = MapObjective::kSerial) {
  return {.backends = backends, .layers = std::vector<bool>(operators), .objective = objective};
}

TEST(Alternatives, VariantsOfALayerArePlacesOfTheirOwn) {
  MappingProblem problem;
  problem.nodes = 1;
  problem.memory_limits = {0};
  problem.formats = {{"cpu", 0}};
  problem.conversions.assign(1, std::vector<std::optional<MappingConversion>>(1));
  problem.values = {{.consumers = {0}, .bytes = 10, .given = 0},
                    {.producer = 0, .bytes = 10, .required = {0}}};
  for (const double us : {3.0, 2.0})
    problem.candidates.push_back({.nodes = {0}, .us = us, .input_formats = {0}, .output_formats = {0}});
  ModelProblem model = model_of(problem);
  model.candidates[0].variant = LayerVariant::kPlain;
  model.candidates[1].variant = LayerVariant::kWinograd;
  const auto best = search_frontier(model.problem, {});
  AlternativeOptions options = without_layers({"llvm"}, 1);
  ASSERT_EQ(find_alternatives(model, *best, options).by_operator[0].size(), 1U);  // it is no layer
  options.layers = {true};
  const auto found = find_alternatives(model, *best, options).by_operator[0];
  ASSERT_EQ(found.size(), 2U);
  for (const MappedAlternative& each : found)
    EXPECT_DOUBLE_EQ(each.more_us, each.variant == "plain" ? 1 : 0) << each.variant;
}

TEST(Alternatives, AreTheOptimumWithTheOperatorThere) {
  for (uint32_t seed = 0; seed < 10; ++seed) {
    const ModelProblem model =
        model_of(random_problem(seed + 200, {.nodes = 5, .devices = 3, .transfer = 0.5}));
    const auto best = search_frontier(model.problem, {});
    ASSERT_TRUE(best);
    const Alternatives found = find_alternatives(model, *best, without_layers(kBackends, 5));
    EXPECT_TRUE(found.complete);
    const std::vector<int> owner = model.backend_of(best->chosen, 5);
    for (int node = 0; node < 5; ++node)
      for (size_t b = 0; b < 3; ++b) {
        MappingProblem there = model.problem;
        std::erase_if(there.candidates, [&](const MappingCandidate& each) {
          return each.device != static_cast<int>(b) && std::ranges::binary_search(each.nodes, node);
        });
        const auto optimum = brute_force(there);
        const MappedAlternative each = on(found.by_operator[static_cast<size_t>(node)], kBackends[b]);
        if (!optimum) {
          EXPECT_EQ(each.backend, "");
          continue;
        }
        EXPECT_EQ(each.backend, kBackends[b]);
        EXPECT_NEAR(each.more_us, optimum->us - best->us, 1e-6) << seed << " " << node << " " << b;
        if (owner[static_cast<size_t>(node)] == static_cast<int>(b)) {
          EXPECT_EQ(each.transfers + each.moves, 0);
        }
      }
  }
}

TEST(Alternatives, NameTheTransfersThatTheyBring) {
  // A chain of three on the card; the one in the middle on the processor needs its value there and back.
  MappingProblem problem;
  problem.nodes = 3;
  problem.memory_limits = {0, 0};
  problem.formats = {{"cpu", 0}, {"card", 1}};
  problem.conversions.assign(2, std::vector<std::optional<MappingConversion>>(2));
  problem.conversions[0][1] = problem.conversions[1][0] = MappingConversion{1, 0.01};
  problem.values = {{.consumers = {0}, .bytes = 10, .given = 0},
                    {.producer = 0, .consumers = {1}, .bytes = 100},
                    {.producer = 1, .consumers = {2}, .bytes = 200},
                    {.producer = 2, .bytes = 10, .required = {0}}};
  for (const int device : {0, 1})
    for (int node = 0; node < 3; ++node)
      problem.candidates.push_back({.nodes = {node},
                                    .us = device ? 1.0 : 50.0,
                                    .device = device,
                                    .input_formats = {device},
                                    .output_formats = {device}});
  const ModelProblem model = model_of(problem);
  const auto best = search_frontier(model.problem, {});
  const Alternatives found = find_alternatives(model, *best, without_layers({"llvm", "card"}, 3));
  const MappedAlternative each = on(found.by_operator[1], "llvm");
  EXPECT_EQ(each.transfers, 2);
  EXPECT_DOUBLE_EQ(each.transfer_bytes, 300);
  EXPECT_NEAR(each.transfer_us, 2 + 3, 1e-9);
  EXPECT_NEAR(each.more_us, 49 + 5, 1e-9);
  EXPECT_EQ(each.moves, 0);
}

TEST(Alternatives, SideBySideASmallChangeMayBeTheBest) {
  // More than the optimum of the sum, evaluated by the objective, it never is.
  for (uint32_t seed = 0; seed < 12; ++seed)
    for (const MapObjective objective : {MapObjective::kLatency, MapObjective::kThroughput}) {
      const ModelProblem model =
          model_of(random_problem(seed + 300, {.nodes = 7, .devices = 3, .transfer = 0.2}));
      const auto serial = search_frontier(model.problem, {});
      const MappingSolution best = search_objective(model.problem, *serial, objective, 0.2, nullptr);
      const Alternatives found = find_alternatives(model, best, without_layers(kBackends, 7, objective));
      for (int node = 0; node < 7; ++node)
        for (size_t b = 0; b < 3; ++b) {
          MappingProblem there = model.problem;
          std::erase_if(there.candidates, [&](const MappingCandidate& each) {
            return each.device != static_cast<int>(b) && std::ranges::binary_search(each.nodes, node);
          });
          const auto sum = brute_force(there);
          const MappedAlternative each = on(found.by_operator[static_cast<size_t>(node)], kBackends[b]);
          if (!sum || each.backend.empty()) continue;
          EXPECT_GE(each.more_us + best.us, 0);
          EXPECT_LE(each.more_us, std::max(0.0, objective_us(there, *sum, objective) - best.us) + 1e-6);
        }
    }
}

TEST(Alternatives, SayWhenTheTimeWasOver) {
  const ModelProblem model = model_of(random_problem(1, {.nodes = 6, .devices = 3}));
  const auto best = search_frontier(model.problem, {});
  AlternativeOptions options = without_layers(kBackends, 6);
  options.seconds = -1;
  EXPECT_FALSE(find_alternatives(model, *best, options).complete);
}

}  // namespace
}  // namespace baton
