// Plans over several devices, on the processor and `mirror`.
#include <atomic>
#include <csignal>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baton/support/base/tensor_rule.h"

#include "runtime/mirror.h"
#include "runtime/plan_text.h"

namespace baton {
namespace {

constexpr const char* kOnMirror = ", \"backend\": \"mirror\"";

NDArray numbers(const Shape& shape) { return tensor_value("x", shape, DType::float_(32)); }

Result<std::unique_ptr<Executor>> create(const std::string& text, const NamedArrays& constants = {},
                                         Executor::Modules modules = on_both()) {
  const auto plan = Plan::parse(text);
  if (!plan.ok()) return plan.status();
  return Executor::create(*plan, std::move(modules), constants);
}

std::unique_ptr<Executor> create_on_both(const std::string& text, const NamedArrays& constants = {}) {
  auto executor = create(text, constants);
  EXPECT_TRUE(executor.ok()) << executor.status().message;
  return std::move(*executor);
}

PlanText::Tensor here(const std::string& shape, int storage) { return {shape, storage}; }
PlanText::Tensor there(const std::string& shape, int storage) {
  return {shape, storage, "float32", kMirrorKind};
}

/// x + 1 on the processor, + 1 on mirror, + 1 on the processor
std::string there_and_back(const std::string& shape) {
  PlanText text;
  text.input("x", here(shape, 0));
  text.call("first", "add_one", "[0, 0, 0]", {here(shape, 1)});
  text.call("to", "__copy", "[1, 0, 0]", {there(shape, 2)});
  text.call("second", "add_one", "[2, 0, 0]", {there(shape, 3)}, kOnMirror);
  text.call("back", "__copy", "[3, 0, 0]", {here(shape, 4)});
  text.call("third", "add_one", "[4, 0, 0]", {here(shape, 1)});
  return text.text("[5, 0, 0]");
}

TEST(Devices, ATensorGoesThereAndBack) {
  for (const auto& [text, shape] : std::vector<std::pair<std::string, Shape>>{{"[2, 2]", {2, 2}},
                                                                              {"[]", {}},
                                                                              {"[7]", {7}},
                                                                              {"[3, 5, 7]", {3, 5, 7}},
                                                                              {"[1, 4099]", {1, 4099}},
                                                                              {"[0, 3]", {0, 3}}}) {
    const auto executor = create_on_both(there_and_back(text));
    const NDArray x = numbers(shape);
    ASSERT_TRUE(executor->set_input(0, x).ok());
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(executor->run().ok());
      NDArray wanted = x.copy();
      for (int k = 0; k < 3; ++k)
        for (float& value : wanted.as<float>()) value += 1;
      EXPECT_TRUE(executor->output(0).equal_bytes(wanted)) << text;
    }
  }
}

TEST(Devices, AModelMayBeOnAnotherDeviceAlone) {
  PlanText text;
  text.input("x", there("[5]", 0)).input("p0", there("[5]", 1));
  text.call("sum", "add", "[0, 0, 0], [1, 0, 0]", {there("[5]", 2)}, kOnMirror);
  text.call("reshape_nop", "__nop", "[2, 0, 0]", {there("[5, 1]", 2)});
  text.call("around", "around", "[3, 0, 0]", {there("[5]", 3), there("[5]", 4)}, kOnMirror);
  const NDArray one = NDArray::of<float>({5}, std::vector<float>(5, 1.f), DType::float_(32));
  auto executor = create(text.text("[4, 0, 0], [4, 1, 0], [0, 0, 0]"), {{"p0", one}},
                         {load_test_kernels(mirror_plugin())});
  ASSERT_TRUE(executor.ok()) << executor.status().message;
  const NDArray x = numbers({5});
  EXPECT_EQ((*executor)->input(0).as<float>()[4], 0) << "inputs start as zeros";
  ASSERT_TRUE((*executor)->set_input("x", x).ok());
  ASSERT_TRUE((*executor)->run().ok());
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ((*executor)->output(0).as<float>()[i], x.as<float>()[i] + 1 - 1);
    EXPECT_EQ((*executor)->output(1).as<float>()[i], x.as<float>()[i] + 1 + 1);
  }
  EXPECT_TRUE((*executor)->output(2).equal_bytes(x));
  // Constants are replaced where they are; bound memory is copied.
  ASSERT_TRUE((*executor)->set_input("p0", x).ok());
  ASSERT_TRUE((*executor)->bind_input("x", x).ok());
  ASSERT_TRUE((*executor)->run().ok());
  EXPECT_EQ((*executor)->output(1).as<float>()[2], x.as<float>()[2] + x.as<float>()[2] + 1);
  const NDArray output = (*executor)->output(0);
  executor->reset();
  EXPECT_EQ(output.as<float>()[2], x.as<float>()[2] + x.as<float>()[2] - 1) << "outputs outlive the executor";
}

TEST(Devices, CopiesOnOneDeviceAndBetweenTwoPlugins) {
  // Another plug-in of another kind: the same table under another name.
  static baton_backend other = mirror_plugin().table();
  other.name = "mirror_of_mirror";
  other.device_kind = [](int32_t) { return int32_t{10}; };
  const auto added = Plugin::add(other);
  ASSERT_TRUE(added.ok()) << added.status().message;
  PlanText text;
  text.input("x", there("[3]", 0));
  text.call("same", "__copy", "[0, 0, 0]", {there("[3]", 1)});
  text.call("add", "add_one", "[1, 0, 0]", {there("[3]", 2)}, kOnMirror);
  text.call("across", "__copy", "[2, 0, 0]", {{"[3]", 3, "float32", 10}});
  text.call("more", "add_one", "[3, 0, 0]", {{"[3]", 4, "float32", 10}},
            ", \"backend\": \"mirror_of_mirror\"");
  Executor::Modules modules = on_both();
  modules.push_back(load_test_kernels(**added));
  auto executor = create(text.text("[4, 0, 0]"), {}, modules);
  ASSERT_TRUE(executor.ok()) << executor.status().message;
  const NDArray x = numbers({3});
  ASSERT_TRUE((*executor)->set_input(0, x).ok());
  ASSERT_TRUE((*executor)->run().ok());
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ((*executor)->output(0).as<float>()[i], x.as<float>()[i] + 1 + 1);
}

TEST(Devices, AProfileHasARowForEveryCopy) {
  const auto executor = create_on_both(there_and_back("[1000]"));
  const auto profile = executor->run_profiled(3);
  ASSERT_TRUE(profile.ok()) << profile.status().message;
  EXPECT_EQ(profile->nodes, (std::vector<uint32_t>{1, 2, 3, 4, 5}));
  for (size_t r = 0; r < 3; ++r) {
    double sum = 0;
    for (const auto& row : profile->node_ns) {
      EXPECT_GT(row[r], 0);
      sum += row[r];
    }
    EXPECT_LE(sum, profile->total_ns[r]);
  }
  EXPECT_EQ(executor->output(0).as<float>()[999], 3);
  EXPECT_EQ(executor->node_function(3), nullptr) << "mirror's kernels are not plain functions";
  ASSERT_NE(executor->node_call(3), nullptr);
  EXPECT_NE(executor->node_function(1), nullptr);
}

TEST(Devices, ManyAtOnce) {
  const auto plan = Plan::parse(there_and_back("[333]"));
  ASSERT_TRUE(plan.ok());
  const Executor::Modules modules = on_both();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      auto executor = Executor::create(*plan, modules, {});
      const std::vector<float> values(333, static_cast<float>(t));
      (void)(*executor)->set_input(0, NDArray::of<float>({333}, values, DType::float_(32)));
      for (int i = 0; i < 100; ++i) {
        wrong += !(*executor)->run().ok();
        wrong += (*executor)->output(0).as<float>()[i] != static_cast<float>(t + 3);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(Devices, SayWhatIsWrong) {
  PlanText failing;
  failing.input("x", there("[2]", 0)).call("n", "fail", "[0, 0, 0]", {there("[2]", 1)}, kOnMirror);
  const auto executor = create_on_both(failing.text("[1, 0, 0]"));
  EXPECT_EQ(executor->run().message, "the device `mirror` failed: a kernel failed with code -7");
  EXPECT_EQ(executor->run_profiled(1).status().code, StatusCode::kKernelFailed);

  PlanText unknown;
  unknown.input("x", there("[2]", 0)).call("n", "no_such", "[0, 0, 0]", {there("[2]", 1)}, kOnMirror);
  EXPECT_EQ(
      create(unknown.text("[1, 0, 0]")).status().message,
      "the kernel `no_such` of node `n` is not among the model's kernels (the plug-in `mirror` has no kernel "
      "`no_such`: its code has no such symbol)");

  PlanText foreign;
  foreign.input("x", here("[2]", 0))
      .call("n", "empty", "[0, 0, 0]", {here("[2]", 1)}, ", \"backend\": \"npu\"");
  EXPECT_EQ(create(foreign.text("[1, 0, 0]")).status().message,
            "the kernel `empty` of node `n` is for the backend `npu`, of which the model has no code");

  PlanText gpu;
  gpu.input("x", {"[2]", 0, "float32", 2}).call("n", "__copy", "[0, 0, 0]", {here("[2]", 1)});
  EXPECT_THAT(
      create(gpu.text("[1, 0, 0]")).status().message,
      ::testing::AllOf(
          ::testing::StartsWith("node `x` runs on device type 2; this runtime has the processor (1) and the "
                                "plug-ins `"),
          ::testing::HasSubstr("`mirror`")));
}

TEST(Devices, APlanThatContradictsItselfIsRefused) {
  PlanText forgotten;
  forgotten.input("x", here("[2]", 0)).call("n", "add_one", "[0, 0, 0]", {there("[2]", 1)}, kOnMirror);
  EXPECT_EQ(
      create(forgotten.text("[1, 0, 0]")).status().message,
      "the plan (graph.json) is damaged: node 1 (`n`) is on device type 12 and reads a tensor of device type "
      "1 that nothing copies");
  PlanText torn;
  torn.input("x", here("[2]", 0)).call("n", "around", "[0, 0, 0]", {here("[2]", 1), there("[2]", 2)});
  EXPECT_EQ(create(torn.text("[1, 0, 0]")).status().message,
            "the plan (graph.json) is damaged: node 1 (`n`) has results on two devices");
  PlanText shared;
  shared.input("x", here("[2]", 0)).call("n", "__copy", "[0, 0, 0]", {there("[2]", 0)});
  EXPECT_EQ(create(shared.text("[1, 0, 0]")).status().message,
            "the plan (graph.json) is damaged: storage 0 is on two devices");
}

/// A plan that forgot the border, as if there were one device: it agrees with itself, so that only the
/// memory can tell.
std::string forgot_the_border(int device, const char* backend) {
  const PlanText::Tensor x{"[4]", 0, "float32", device}, y{"[4]", 1, "float32", device};
  PlanText text;
  text.input("x", x).call("n", "add_one", "[0, 0, 0]", {y}, backend);
  return text.text("[1, 0, 0]");
}

class DevicesDeathTest : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(DevicesDeathTest, AKernelOfMirrorCannotReadTheHost) {
  const auto executor = create_on_both(forgot_the_border(1, kOnMirror));
  EXPECT_DEATH((void)executor->run(), "");
}

TEST_F(DevicesDeathTest, AKernelOfTheProcessorCannotReadMirror) {
  const auto executor = create_on_both(forgot_the_border(kMirrorKind, ""));
  EXPECT_DEATH((void)executor->run(), "");
}

TEST_F(DevicesDeathTest, TheHostCannotReadMirror) {
  const auto executor = create_on_both(forgot_the_border(kMirrorKind, kOnMirror));
  ASSERT_TRUE(executor->run().ok());
  EXPECT_EQ(executor->output(0).as<float>()[3], 1) << "a copy may";
  const auto* result = static_cast<const baton_tensor*>(executor->node_args(1)[1]);
  EXPECT_EQ(result->host, nullptr);
  const auto* values = reinterpret_cast<const volatile float*>(static_cast<uintptr_t>(result->memory));
  EXPECT_DEATH((void)values[0], "");
}

}  // namespace
}  // namespace baton
