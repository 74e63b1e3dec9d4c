// Whole builds as a mapping problem.
#include "baton/map/model_problem.h"

#include <cmath>

#include <gmock/gmock.h>

#include "baton/driver/initialize.h"
#include "baton/driver/load_model.h"
#include "baton/map/frontier.h"
#include "baton/profile/compare/offload.h"
#include "baton/support/error.h"

namespace baton {
namespace {

using ::testing::HasSubstr;

// `kernel_us`: of every node that computes something.
MeasuredBuild built(const std::string& model, int level, const std::string& name, double kernel_us,
                    int backend = 0) {
  initialize();
  const LoadedModel loaded = load_model(model);
  BuildOptions options;
  options.context = host_context();
  auto passes = std::make_shared<PassContext>(*options.context.passes);
  passes->opt_level = level;
  options.context.passes = passes;
  options.params = load_params(loaded, "");
  const BuildResult result = build(loaded.module, options);
  MeasuredBuild build{.name = name, .plan = result.plan.graph, .origins = *result.origins};
  for (const PlanNode& node : result.plan.graph->nodes)
    build.constants.push_back(std::ranges::any_of(
        result.params(), [&](const auto& constant) { return constant.first == node.name; }));
  for (const PlanNode& node : result.plan.graph->nodes) {
    build.node_us.push_back(node.origins.empty() ? 0 : kernel_us);
    build.node_backend.push_back(backend);
  }
  return build;
}

ModelPrices one_device(MappingConversion layout = {1, 0.001}) {
  return {{{"a", 0, layout}, {"b", 0, layout}}, {"cpu"}, {{std::nullopt}}, {}, {}, {}, {}};
}

double sum(const MeasuredBuild& build) {
  double us = 0;
  for (const double each : build.node_us) us += each;
  return us;
}

class ModelProblemsOf : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Models, ModelProblemsOf,
                         ::testing::Values("mlp", "resnet-18", "squeezenet-1.1", "lstm", "dqn"),
                         [](const auto& info) { return "Model" + std::to_string(info.index); });
TEST_P(ModelProblemsOf, WholeBuildsCostWhatTheirKernelsCost) {
  const std::string model = GetParam();
  const std::vector<MeasuredBuild> builds{built(model, 3, "fused", 7), built(model, 0, "unfused", 2, 1)};
  const ModelProblem problem = model_problem(builds, one_device());
  // At level 0 every operator is a kernel of its own, so that nothing finer is needed there.
  for (const auto& piece : problem.without_price) EXPECT_EQ(piece.backend, 0u) << model;
  for (size_t b = 0; b < builds.size(); ++b) {
    const auto whole = price(problem.problem, problem.whole[b]);
    ASSERT_TRUE(whole) << model;
    double kernels = 0, conversions = 0;
    for (const int c : whole->chosen) kernels += problem.problem.candidates[static_cast<size_t>(c)].us;
    for (const MappingStep& step : whole->steps)
      conversions += problem.problem.conversion_us(step.value, step.from, step.to);
    EXPECT_NEAR(kernels, sum(builds[b]), 1e-6) << model;
    EXPECT_NEAR(kernels + conversions, whole->us, 1e-6);
  }
  const auto best = search_frontier(problem.problem, {});
  ASSERT_TRUE(best);
  for (size_t b = 0; b < builds.size(); ++b)
    EXPECT_LE(best->us, price(problem.problem, problem.whole[b])->us + 1e-6) << model;
}

TEST(ModelProblems, BlockedLayoutsHaveToBeChangedBetweenBackends) {
  // Equal builds, but every second group is cheap in one of them: what it costs to go back and forth decides.
  MeasuredBuild a = built("vgg-11", 3, "a", 10), b = built("vgg-11", 3, "b", 10, 1);
  bool turn = false;
  for (size_t n = 0; n < a.node_us.size(); ++n)
    if (a.node_us[n] > 0) ((turn = !turn) ? a : b).node_us[n] = 1;
  const ModelProblem free = model_problem({a, b}, one_device({0, 0}));
  const auto mixed = search_frontier(free.problem, {});
  ASSERT_TRUE(mixed);
  EXPECT_NEAR(mixed->us, static_cast<double>(mixed->chosen.size()), 1e-6);
  EXPECT_FALSE(mixed->steps.empty());  // VGG's convolutions are blocked
  const ModelProblem dear = model_problem({a, b}, one_device({1e6, 0}));
  const auto apart = search_frontier(dear.problem, {});
  ASSERT_TRUE(apart);
  EXPECT_LT(apart->us, 1e6);  // never a change of layout, so blocked values stay with who made them
  EXPECT_TRUE(apart->steps.empty());
  EXPECT_GT(apart->us, mixed->us);
}

TEST(ModelProblems, PiecesOfGroupsArePriced) {
  ModelPrices prices = one_device();
  int asked = 0;
  prices.piece_us = [&](size_t, const std::vector<uint32_t>& operators) {
    ++asked;
    return std::optional<double>(static_cast<double>(operators.size()));
  };
  const ModelProblem problem =
      model_problem({built("mlp", 3, "fused", 7), built("mlp", 0, "unfused", 2, 1)}, prices);
  EXPECT_GT(asked, 0);
  EXPECT_TRUE(problem.without_price.empty());
}

TEST(ModelProblems, KernelsOfOneBackendInSeveralBuildsAreOneCandidate) {
  const ModelProblem once = model_problem({built("mlp", 3, "a", 6)}, one_device());
  const ModelProblem twice =
      model_problem({built("mlp", 3, "a", 6), built("mlp", 3, "again", 8)}, one_device());
  ASSERT_EQ(once.candidates.size(), twice.candidates.size());
  EXPECT_EQ(twice.whole[0], twice.whole[1]);
  for (const MappingCandidate& each : twice.problem.candidates) EXPECT_DOUBLE_EQ(each.us, 7) << each.label;
}

TEST(ModelProblems, OtherKernelsOfOneBackendAreCandidatesOfTheirOwn) {
  MeasuredBuild a = built("mlp", 3, "a", 6), same = built("mlp", 3, "same", 8),
                other = built("mlp", 3, "other", 4);
  for (MeasuredBuild* each : {&a, &same, &other})
    for (size_t n = 0; n < each->node_us.size(); ++n)
      each->node_kernel.push_back(each->node_us[n] > 0 ? n + (each == &other && n % 2) * 1000 : 0);
  const ModelProblem problem = model_problem({a, same, other}, one_device());
  const size_t once = model_problem({a}, one_device()).candidates.size();
  EXPECT_EQ(problem.whole[0], problem.whole[1]);
  EXPECT_GT(problem.candidates.size(), once);
  EXPECT_LT(problem.candidates.size(), 2 * once);
  for (const MappingCandidate& each : problem.problem.candidates)
    EXPECT_TRUE(each.us == 6 || each.us == 7 || each.us == 4) << each.us;  // the mean of three is 6
}

// At the least that parts could cost they are cheap enough; each real price that is asked for is a kernel's.
TEST(ModelProblems, PartsThatMatterAreFoundByTheLeastTheyCouldCost) {
  std::vector<MeasuredBuild> builds{built("mlp", 3, "fused", 10), built("mlp", 0, "unfused", 6, 1)};
  ModelPrices prices = one_device({0, 0});
  const ModelProblem without = model_problem(builds, prices);
  EXPECT_FALSE(without.without_price.empty());
  for (const auto& each : without.candidates) EXPECT_FALSE(each.guessed);
  prices.guesses_piece = [](size_t, const std::vector<uint32_t>&) { return true; };
  const ModelProblem guessed = model_problem(builds, prices);
  size_t guesses = 0;
  for (size_t c = 0; c < guessed.candidates.size(); ++c) {
    if (!guessed.candidates[c].guessed) continue;
    ++guesses;
    EXPECT_LT(guessed.problem.candidates[c].us, 10);
    EXPECT_GE(guessed.problem.candidates[c].us, 0);
  }
  EXPECT_GT(guesses, 3u);
  EXPECT_LE(search_frontier(guessed.problem, {})->us, search_frontier(without.problem, {})->us + 1e-9);
}

TEST(ModelProblems, WithoutCostsNameTheOperators) {
  MeasuredBuild build = built("mlp", 3, "a", 1);
  for (size_t n = 0; n < build.node_us.size(); ++n)
    if (build.node_us[n] > 0) build.node_us[n] = std::nan("");
  try {
    model_problem({build}, one_device());
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("no cost is known of"));
    EXPECT_THAT(error.what(), HasSubstr("nn.dense"));
  }
}

TEST(ModelProblems, WhatIsNotAllowedIsNoCandidate) {
  ModelPrices prices = one_device();
  prices.allowed = [](size_t backend, uint32_t id) { return backend == 0 || id != 1; };
  const std::vector<MeasuredBuild> builds{built("mlp", 3, "a", 9), built("mlp", 3, "b", 1, 1)};
  const ModelProblem problem = model_problem(builds, prices);
  EXPECT_FALSE(problem.whole[0].empty());
  EXPECT_TRUE(problem.whole[1].empty());
  const auto best = search_frontier(problem.problem, {});
  ASSERT_TRUE(best);
  const std::vector<int> owner = problem.backend_of(best->chosen, builds[0].origins.operators.size());
  EXPECT_EQ(owner[1], 0);                      // the first dense layer
  EXPECT_EQ(std::ranges::count(owner, 0), 3);  // with its bias and relu
  EXPECT_GE(std::ranges::count(owner, 1), 6);
  prices.allowed = [](size_t, uint32_t id) { return id != 1; };
  EXPECT_THROW(model_problem(builds, prices), Error);
}

// An input that is called like the constants of a plan was taken for one, and its copies were free.
TEST(ModelProblems, InputsAreGivenWhateverTheirNames) {
  MeasuredBuild build = built("mlp", 3, "a", 1);
  const ModelProblem problem = model_problem({build}, one_device());
  const auto given = [](const ModelProblem& of) {
    return std::ranges::count_if(of.problem.values,
                                 [](const MappingValue& value) { return value.given >= 0; });
  };
  EXPECT_EQ(given(problem), 1);
  build.constants.assign(build.constants.size(), false);
  EXPECT_GT(given(model_problem({build}, one_device())), 1);
}

TEST(ModelProblems, OfDifferentProgramsAreRefused) {
  try {
    model_problem({built("mlp", 3, "a", 1), built("dqn", 3, "b", 1)}, one_device());
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("are not of one program"));
  }
  EXPECT_THROW(model_problem({}, one_device()), Error);
}

}  // namespace
}  // namespace baton
