// Whole builds as a mapping problem.
#include "baton/map/model_problem.h"

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
BackendBuild built(const std::string& model, int level, const std::string& name, double kernel_us) {
  initialize();
  const LoadedModel loaded = load_model(model);
  BuildOptions options;
  options.context = host_context();
  auto passes = std::make_shared<PassContext>(*options.context.passes);
  passes->opt_level = level;
  options.context.passes = passes;
  options.params = load_params(loaded, "");
  const BuildResult result = build(loaded.module, options);
  BackendBuild build{name, 0, result.plan.graph, *result.origins, {}, {1, 0.001}, {}};
  for (const PlanNode& node : result.plan.graph->nodes)
    build.node_us.push_back(node.origins.empty() ? 0 : kernel_us);
  return build;
}

ModelPrices one_device() { return {{"cpu"}, {{std::nullopt}}, {}, {}}; }

double sum(const BackendBuild& build) {
  double us = 0;
  for (const double each : build.node_us) us += each;
  return us;
}

TEST(ModelProblems, OfWholeBuildsCostWhatTheirKernelsCost) {
  for (const std::string model : {"mlp", "resnet-18", "squeezenet-1.1", "lstm", "dqn"}) {
    const std::vector<BackendBuild> builds{built(model, 3, "fused", 7), built(model, 0, "unfused", 2)};
    const ModelProblem problem = model_problem(builds, one_device());
    // At level 0 every operator is a kernel of its own, so that nothing finer is needed there.
    for (const auto& piece : problem.without_price) EXPECT_EQ(piece.build, 0u) << model;
    for (size_t b = 0; b < builds.size(); ++b) {
      const auto whole = price(problem.problem, problem.whole(b));
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
      EXPECT_LE(best->us, price(problem.problem, problem.whole(b))->us + 1e-6) << model;
  }
}

TEST(ModelProblems, BlockedLayoutsHaveToBeChangedBetweenBackends) {
  // Equal builds, but every second group is cheap in one of them: what it costs to go back and forth decides.
  BackendBuild a = built("vgg-11", 3, "a", 10), b = built("vgg-11", 3, "b", 10);
  bool turn = false;
  for (size_t n = 0; n < a.node_us.size(); ++n)
    if (a.node_us[n] > 0) ((turn = !turn) ? a : b).node_us[n] = 1;
  a.layout = b.layout = {0, 0};
  const ModelProblem free = model_problem({a, b}, one_device());
  const auto mixed = search_frontier(free.problem, {});
  ASSERT_TRUE(mixed);
  EXPECT_NEAR(mixed->us, static_cast<double>(mixed->chosen.size()), 1e-6);
  EXPECT_FALSE(mixed->steps.empty());  // VGG's convolutions are blocked
  a.layout = b.layout = {1e6, 0};
  const ModelProblem dear = model_problem({a, b}, one_device());
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
      model_problem({built("mlp", 3, "fused", 7), built("mlp", 0, "unfused", 2)}, prices);
  EXPECT_GT(asked, 0);
  EXPECT_TRUE(problem.without_price.empty());
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
