// The unfused build: every operator a kernel of its own, the same values, and time for every operator.
#include "baton/profile/report/unfused.h"

#include <gmock/gmock.h>

#include "baton/codegen/backend.h"
#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/driver/regions.h"
#include "baton/ir/functions.h"
#include "baton/profile/report/report.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

#include "codegen/kernels.h"

namespace baton {
namespace {

using testing::ElementsAre;

struct Model {
  test::Folder folder;
  KernelCache cache{folder.path()};
  BuildOptions options{.context = host_context()};
  BuildResult build;
  std::unique_ptr<Executor> executor;

  explicit Model(const std::string& body, int opt_level = 3) {
    initialize();
    const IRModule module = infer_types(parse_module("#[version = \"0.0.5\"]\n" + body, "net.relay"));
    options.context.cache = &cache;
    options.context.passes->opt_level = opt_level;
    for (const Var& param : module->find("main")->params()) {
      if (param->name() == "data") continue;
      const auto* type = as_type<TensorTypeNode>(param->annotation());
      options.params.emplace_back(param->name(),
                                  parameter_value(param->name(), type->extents(), type->dtype()));
    }
    build = baton::build(module, options);
    executor = make_executor(build);
    executor->set_threads(1);
    const PlanEntry& entry = executor->input_entry(0);
    EXPECT_TRUE(executor->set_input(0, tensor_value("data", entry.shape, entry.dtype)).ok());
  }
};

constexpr const char* kNet = R"(
def @main(%data: Tensor[(1, 8, 14, 14), float32], %w: Tensor[(16, 8, 3, 3), float32], %b: Tensor[(16), float32]) {
  %0 = nn.conv2d(%data, %w, padding=[1, 1, 1, 1], channels=16, kernel_size=[3, 3]);
  %1 = nn.bias_add(%0, %b);
  %2 = nn.relu(%1);
  %3 = nn.max_pool2d(%2, pool_size=[2, 2], strides=[2, 2]);
  %4 = (%3, exp(%3));
  %5 = concatenate(%4, axis=1);
  nn.batch_flatten(%5)
}
)";

std::vector<float> values_of(const NDArray& array) {
  return {array.as<float>().begin(), array.as<float>().end()};
}

TEST(Unfused, EveryKernelHasOneOperatorAndTheValuesStay) {
  Model model(kNet);
  const UnfusedModel unfused = build_unfused(model.build, *model.executor, model.options);
  size_t calls = 0;
  for (const BuiltKernel& kernel : unfused.built.kernels) {
    EXPECT_EQ(kernel_blocks(*kernel.function).size(), 1u) << kernel.func_name;
    ++calls;
  }
  EXPECT_GT(calls, model.build.kernels.size());
  ASSERT_TRUE(model.executor->run().ok());
  ASSERT_TRUE(unfused.executor->run().ok());
  EXPECT_EQ(values_of(model.executor->output(0)).size(), 2u * 16 * 7 * 7);
  const auto fused_values = values_of(model.executor->output(0)),
             values = values_of(unfused.executor->output(0));
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_NEAR(values[i], fused_values[i], 1e-4 * (1 + std::abs(values[i]))) << i;
}

TEST(Unfused, EveryOperatorThatIsNotFoldedGetsATime) {
  Model model(kNet);
  const UnfusedModel unfused = build_unfused(model.build, *model.executor, model.options);
  MeasureOptions options;
  options.min_runs = 3;
  options.min_seconds = 0.01;
  const MeasuredModel both[] = {{model.executor.get()}, {unfused.executor.get()}};
  const std::vector<FusedTimes> times = measure_in_turns(both, options);
  ASSERT_EQ(times.size(), 2u);
  ProfileReport report = make_report(model.build, model.executor->plan(), times[0], {});
  add_unfused(report, unfused, times[1]);
  EXPECT_GT(report.unfused_us, 0);
  EXPECT_EQ(report.unfused.size(), times[1].nodes.size());
  double sum = 0, operators = 0;
  for (const UnfusedRow& row : report.unfused) sum += row.origins.empty() ? 0 : row.median_us;
  for (const OperatorRow& row : report.operators) {
    EXPECT_EQ(row.unfused_us.has_value(), !row.nodes.empty() && row.op != "nn.batch_flatten") << row.op;
    operators += row.unfused_us.value_or(0);
  }
  EXPECT_NEAR(sum, operators, 1e-6 * sum) << "nothing counts twice";
}

TEST(Unfused, LayoutsStayThoseOfTheFusedBuild) {
  Model model(kNet);
  const auto ops_of = [](const BuildResult& build) {
    std::set<std::string> ops;
    for (const BuiltKernel& kernel : build.kernels)
      for (const KernelBlock& block : kernel_blocks(*kernel.function)) ops.insert(block.call->op()->name);
    return ops;
  };
  const UnfusedModel unfused = build_unfused(model.build, *model.executor, model.options);
  // A reshape alone is no kernel: its result lies where its argument does.
  std::set<std::string> fused = ops_of(model.build);
  for (const char* op : {"reshape", "nn.batch_flatten"}) fused.erase(op);
  EXPECT_EQ(ops_of(unfused.built), fused);
}

// At level 0 nothing is fused, so there is nothing to take apart.
TEST(Unfused, OfAnUnfusedBuildIsTheSameBuild) {
  Model model(kNet, 0);
  const UnfusedModel unfused = build_unfused(model.build, *model.executor, model.options);
  std::vector<std::string> names, before;
  for (const PlanNode& node : unfused.built.plan.graph->nodes) names.push_back(node.name);
  for (const PlanNode& node : model.build.plan.graph->nodes) before.push_back(node.name);
  EXPECT_EQ(names, before);
}

TEST(Unfused, CanBeInterrupted) {
  Model model(kNet);
  std::atomic<bool> stop{true};
  BuildOptions options = model.options;
  options.context.interrupt = &stop;
  EXPECT_THROW(build_unfused(model.build, *model.executor, options), Interrupted);
}

}  // namespace
}  // namespace baton
