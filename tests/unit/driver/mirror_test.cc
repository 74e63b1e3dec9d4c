// Programs over the processor and the simulated device `mirror`: what forgets a copy would crash here.
#include <algorithm>
#include <filesystem>
#include <random>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "baton/driver/build.h"
#include "baton/driver/origins/operator_map.h"
#include "baton/driver/plan/graph_json.h"
#include "baton/frontend/workloads/networks.h"
#include "baton/pass/origin_verifier.h"
#include "baton/profile/measure/measure.h"
#include "baton/profile/report/report.h"
#include "baton/runtime/model.h"
#include "baton/support/error.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

#include "driver/device_programs.h"
#include "properties/module_value.h"
#include "properties/random_module.h"

namespace baton {
namespace {

constexpr int kMirror = 12;

/// `text` with "@mirror(" and "@cpu(" become on_device, or nothing.
IRModule parsed(std::string text, bool annotated) {
  const auto replace = [&](const std::string& mark, int device) {
    for (size_t at; (at = text.find(mark)) != std::string::npos;) {
      const size_t end = text.find(')', at);
      const std::string value = text.substr(at + mark.size(), end - at - mark.size());
      const std::string place = "on_device(" + value +
                                ", virtual_device=VirtualDevice(device_type=" + std::to_string(device) +
                                ", virtual_device_id=0))";
      text.replace(at, end + 1 - at, annotated ? place : "copy(" + value + ")");
    }
  };
  replace("@mirror(", kMirror);
  replace("@cpu(", 1);
  return parse_module(text, "net.relay");
}

int kernels_on_mirror(const BuildResult& built) { return kernels_on(built, "mirror"); }

void expect_equal_outputs(const std::string& text) {
  const BuildResult plain = build(parsed(text, false), on({"llvm"}));
  const BuildResult split = build(parsed(text, true), on({"llvm", "mirror"}));
  EXPECT_GT(kernels_on_mirror(split), 0);
  expect_conserved(split);
  EXPECT_LT(properties::difference(outputs_of(plain), outputs_of(split)), 1e-5);
}

const char* const kThereAndBack = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) {
  %0 = @cpu(%x);
  %1 = exp(%0);
  %2 = @cpu(%1);
  %3 = nn.dense(%2, @mirror(%w), units=4);
  %4 = @mirror(%3);
  nn.relu(%4)
}
)";

TEST(Mirror, AnnotatedProgramsRunOnBoth) { expect_equal_outputs(kThereAndBack); }

TEST(Mirror, EveryBorderIsANodeThatSaysWhy) {
  const BuildResult built = build(parsed(kThereAndBack, true), on({"llvm", "mirror"}));
  const auto copies = copies_of(built);
  ASSERT_EQ(copies.size(), 2u);
  for (const PlanNode* copy : copies) {
    EXPECT_EQ(copy->func_name, "__copy");
    EXPECT_FALSE(copy->origins.empty() && copy->made_for.empty()) << copy->name;
  }
  const auto executor = make_executor(built);
  const auto profile = executor->run_profiled(2);
  ASSERT_TRUE(profile.ok()) << profile.status().message;
  FusedTimes times;
  times.nodes = profile->nodes;
  for (const auto& row : profile->node_ns) times.node_us.push_back({row[0] / 1e3, row[1] / 1e3});
  times.plain_us = times.profiled_us = {profile->total_ns[0] / 1e3};
  const ProfileReport report = make_report(report_source(built), executor->plan(), times);
  int rows = 0;
  for (const KernelRow& row : report.kernels) {
    if (row.func_name != "__copy") continue;
    ++rows;
    EXPECT_GT(row.median_us, 0);
    EXPECT_FALSE(row.origins.empty() && row.made_for.empty());
  }
  EXPECT_EQ(rows, 2);
}

TEST(Mirror, AValueThatBothSidesReadIsCopiedOnce) {
  // What one on_device gives is in one place: every reader has its own.
  const char* const text = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(7,), float32]) {
  %0 = exp(%x);
  %1 = @cpu(%0);
  %2 = @cpu(%0);
  %3 = @cpu(%0);
  %4 = tanh(%1);
  %5 = sigmoid(%2);
  %6 = sqrt(%3);
  %7 = @mirror(%4);
  %8 = @mirror(%5);
  (%7, %8, %6)
}
)";
  const BuildResult built = build(parsed(text, true), on({"llvm", "mirror"}));
  int to_mirror = 0;
  for (const PlanNode* copy : copies_of(built)) {
    if (built.plan.graph->entries[copy->first_entry].device_type != kMirror) continue;
    ++to_mirror;
    EXPECT_EQ(copy->origins.size(), 2u) << "both on_device became this copy";
  }
  EXPECT_EQ(to_mirror, 1) << graph_json(*built.plan.graph);
  expect_equal_outputs(text);
}

TEST(Mirror, TuplesAndOddAndEmptyShapesCross) {
  for (const std::string shape : {"(2, 6)", "(1, 2)", "(3, 2, 5)", "(0, 2)", "(7, 2, 1, 3)"}) {
    expect_equal_outputs(R"(#[version = "0.0.5"]
def @main(%x: Tensor[)" + shape +
                         R"(, float32]) {
  %0 = exp(%x);
  %1 = @cpu(%0);
  %2 = split(%1, indices_or_sections=2, axis=1);
  %3 = %2.0;
  %4 = @mirror(%3);
  %5 = %2.1;
  %6 = @mirror(%5);
  %7 = tanh(%4);
  %8 = @cpu(%7);
  (%8, %4, %6)
}
)");
  }
}

TEST(Mirror, AProgramMayBeOnMirrorAlone) {
  const IRModule module = parsed(kThereAndBack, false);
  BuildResult built = build(module, on({"mirror"}));
  EXPECT_TRUE(copies_of(built).empty());
  for (const PlanEntry& entry : built.plan.graph->entries) EXPECT_EQ(entry.device_type, kMirror);
  EXPECT_LT(properties::difference(outputs_of(build(module, on({"llvm"}))), outputs_of(built)), 1e-5);
}

TEST(Mirror, AnArtifactCarriesItsCode) {
  const std::string path = ::testing::TempDir() + "mirror-" + std::to_string(getpid()) + ".baton";
  const BuildResult built = build(parsed(kThereAndBack, true), on({"llvm", "mirror"}));
  write_artifact(built, path);
  auto model = Model::load(path);
  ASSERT_TRUE(model.ok()) << model.status().message;
  EXPECT_THAT((*model)->artifact().names(), ::testing::Contains("plugin/mirror"));
  EXPECT_EQ(properties::difference(outputs_of(built), outputs_of((*model)->executor())), 0);
  std::filesystem::remove(path);
}

TEST(Mirror, TwoExecutorsAtOnce) {
  const BuildResult built = build(parsed(kThereAndBack, true), on({"llvm", "mirror"}));
  const std::vector<NDArray> wanted = outputs_of(built);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      const auto executor = make_executor(built);
      for (int i = 0; i < 20; ++i) wrong += properties::difference(wanted, outputs_of(*executor)) != 0;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(Mirror, ARegionOfItsOwnRunsThere) {
  const char* const text = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) {
  %0 = exp(%x);
  %1 = @mirror_0(%0, %w);
  nn.relu(%1)
}
def @mirror_0(%a: Tensor[(2, 3), float32], %b: Tensor[(4, 3), float32], Inline=1, Compiler="mirror", global_symbol="mirror_0", Primitive=1) -> Tensor[(2, 4), float32] {
  %2 = nn.dense(%a, %b, units=4);
  tanh(%2)
}
)";
  const char* const plain = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) {
  %0 = exp(%x);
  %2 = nn.dense(%0, %w, units=4);
  nn.relu(tanh(%2))
}
)";
  const BuildResult built = build(parse_module(text, "net.relay"), on({"llvm"}));
  EXPECT_GT(kernels_on_mirror(built), 0);
  expect_conserved(built);
  for (const PlanNode* copy : copies_of(built)) {
    EXPECT_FALSE(copy->made_for.empty()) << copy->name;
    EXPECT_THAT(copy->reason, ::testing::StartsWith("copied from device type "));
  }
  EXPECT_EQ(copies_of(built).size(), 3u) << "two inputs and the result";
  EXPECT_LT(properties::difference(outputs_of(build(parse_module(plain, "plain.relay"), on({"llvm"}))),
                                   outputs_of(built)),
            1e-5);
}

TEST(Mirror, ResNet18RunsInTurnsOnBoth) {
  workloads::ImageNetOptions image;
  image.image_shape = {3, 32, 32};
  image.num_classes = 10;
  const IRModule module = infer_types(workloads::resnet(18, image));
  const NamedArrays weights = weights_by_rule(module);
  int relus = 0;
  const IRModule split = Scatter::over(module, [&](const Expr& value) {
    const auto* call = as<CallNode>(value);
    if (!call || !call->op() || call->op()->name != "nn.relu") return 0;
    return relus++ % 2 ? 1 : kMirror;
  });
  BuildOptions one = on({"llvm"}), two = on({"llvm", "mirror"});
  one.params = two.params = weights;
  const BuildResult built = build(split, two);
  EXPECT_GT(kernels_on_mirror(built), 8);
  EXPECT_GT(copies_of(built).size(), 8u);
  expect_conserved(built);
  expect_same_side_by_side(built);
  EXPECT_LT(properties::difference(outputs_of(build(module, one)), outputs_of(built)), 1e-3);
}

TEST(Mirror, RandomProgramsScatteredOverBoth) {
  int looked_at = 0;
  for (uint64_t seed = 0; looked_at < 12 && seed < 200; ++seed) {
    const IRModule module = infer_types(parse_module(properties::random_module(seed), "random.relay"));
    if (!is_straight(module)) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const BuildResult split =
        build(Scatter::over(module, [&](const Expr&) { return random() % 2 ? kMirror : 1; }),
              on({"llvm", "mirror"}));
    ++looked_at;
    expect_conserved(split);
    expect_same_side_by_side(split);
    EXPECT_LT(properties::difference(outputs_of(build(module, on({"llvm"}))), outputs_of(split)), 1e-4);
  }
  EXPECT_EQ(looked_at, 12);
}

}  // namespace
}  // namespace baton
