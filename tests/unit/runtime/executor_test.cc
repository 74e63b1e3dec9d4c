#include "baton/runtime/executor.h"

#include <cmath>
#include <numeric>
#include <thread>

#include <gtest/gtest.h>

#include "baton/runtime/marks.h"
#include "baton/runtime/system/allocator.h"
#include "baton/support/base/tensor_rule.h"

#include "runtime/plan_text.h"
#include "test_paths.h"

namespace baton {
namespace {

std::shared_ptr<const KernelLibrary> kernels() {
  auto library = KernelLibrary::open(std::string(build_dir()) + "/generated/test_kernels.so");
  EXPECT_TRUE(library.ok()) << library.status().message;
  return *library;
}

std::shared_ptr<const Plan> plan_of(const std::string& text) {
  auto plan = Plan::parse(text);
  EXPECT_TRUE(plan.ok()) << plan.status().message;
  return *plan;
}

std::unique_ptr<Executor> executor_of(const std::string& text, const NamedArrays& constants = {}) {
  auto executor = Executor::create(plan_of(text), kernels(), constants);
  EXPECT_TRUE(executor.ok()) << executor.status().message;
  return std::move(*executor);
}

NDArray floats(const Shape& shape, std::initializer_list<float> values) {
  return NDArray::of<float>(shape, std::span(values.begin(), values.size()), DType::float_(32));
}

std::vector<float> values(const NDArray& array) {
  return {array.as<float>().begin(), array.as<float>().end()};
}

/// x, p0 -> add -> (nop to another shape) -> around -> low, high; high -> __copy
std::string small_plan() {
  PlanText text;
  text.input("x", {"[2, 2]", 0});
  text.input("p0", {"[2, 2]", 1});
  text.call("add", "add", "[0, 0, 0], [1, 0, 0]", {{"[2, 2]", 2}});
  text.call("reshape_nop", "__nop", "[2, 0, 0]", {{"[4]", 2}});
  text.call("around", "around", "[3, 0, 0]", {{"[4]", 3}, {"[4]", 4}});
  text.call("__copy", "__copy", "[4, 1, 0]", {{"[4]", 5}});
  return text.text("[4, 0, 0], [5, 0, 0]");
}

TEST(Executor, RunsAPlan) {
  const auto executor = executor_of(small_plan(), {{"p0", floats({2, 2}, {10, 20, 30, 40})}});
  ASSERT_EQ(executor->num_inputs(), 1u);
  EXPECT_EQ(executor->input_node(0).name, "x");
  ASSERT_TRUE(executor->set_input(0, floats({2, 2}, {1, 2, 3, 4})).ok());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(executor->run().ok());
    EXPECT_EQ(values(executor->output(0)), (std::vector<float>{10, 21, 32, 43}));
    EXPECT_EQ(values(executor->output(1)), (std::vector<float>{12, 23, 34, 45}));
  }
  EXPECT_EQ(executor->output(0).shape(), (Shape{4}));
}

TEST(Executor, SetCopiesAndBindDoesNot) {
  const auto executor = executor_of(small_plan(), {{"p0", floats({2, 2}, {0, 0, 0, 0})}});
  NDArray x = floats({2, 2}, {1, 1, 1, 1});
  ASSERT_TRUE(executor->set_input("x", x).ok());
  x.as<float>()[0] = 5;
  ASSERT_TRUE(executor->run().ok());
  EXPECT_EQ(values(executor->output(0))[0], 0);
  ASSERT_TRUE(executor->bind_input(0, x).ok());
  EXPECT_EQ(executor->input(0).data(), x.data());
  x.as<float>()[0] = 6;
  ASSERT_TRUE(executor->run().ok());
  EXPECT_EQ(values(executor->output(0))[0], 5);
  // Setting again must not write into the caller's memory.
  ASSERT_TRUE(executor->set_input(0, floats({2, 2}, {9, 9, 9, 9})).ok());
  EXPECT_EQ(x.as<float>()[0], 6);
  ASSERT_TRUE(executor->run().ok());
  EXPECT_EQ(values(executor->output(0))[0], 8);
}

TEST(Executor, UnalignedMemoryIsCopied) {
  const auto executor = executor_of(small_plan(), {{"p0", floats({2, 2}, {0, 0, 0, 0})}});
  NDArray room = NDArray::zeros({5}, DType::float_(32));
  const NDArray odd = NDArray::view(room.as<float>().data() + 1, {2, 2}, DType::float_(32), nullptr, nullptr);
  ASSERT_TRUE(executor->bind_input(0, odd).ok());
  EXPECT_NE(executor->input(0).data(), odd.data());
}

TEST(Executor, ConstantsAreUsedInPlaceAndCanBeReplaced) {
  const NDArray constant = floats({2, 2}, {1, 1, 1, 1});
  const auto executor = executor_of(small_plan(), {{"p0", constant}});
  EXPECT_EQ(executor->entry(1).data(), constant.data());
  ASSERT_TRUE(executor->set_input("p0", floats({2, 2}, {7, 7, 7, 7})).ok());
  ASSERT_TRUE(executor->run().ok());
  EXPECT_EQ(values(executor->output(0))[0], 6);
  EXPECT_EQ(constant.as<float>()[0], 1);
}

TEST(Executor, OutputsOutliveTheExecutor) {
  auto executor = executor_of(small_plan(), {{"p0", floats({2, 2}, {1, 2, 3, 4})}});
  ASSERT_TRUE(executor->run().ok());
  const NDArray output = executor->output(1);
  executor.reset();
  EXPECT_EQ(values(output), (std::vector<float>{2, 3, 4, 5}));
}

TEST(Executor, AnInputMayBeAnOutput) {
  PlanText text;
  text.input("x", {"[2]", 0});
  const auto executor = executor_of(text.text("[0, 0, 0]"));
  ASSERT_TRUE(executor->set_input(0, floats({2}, {3, 4})).ok());
  ASSERT_TRUE(executor->run().ok());
  EXPECT_EQ(values(executor->output(0)), (std::vector<float>{3, 4}));
}

TEST(Executor, BuffersAreDescribedInnermostFirst) {
  PlanText text;
  text.input("x", {"[2, 3, 5]", 0, "bool"});
  text.call("describe", "describe", "[0, 0, 0]", {{"[9]", 1, "int32"}});
  const auto executor = executor_of(text.text("[1, 0, 0]"));
  ASSERT_TRUE(executor->run().ok());
  const NDArray out = executor->output(0);
  EXPECT_EQ(std::vector<int32_t>(out.as<int32_t>().begin(), out.as<int32_t>().end()),
            (std::vector<int32_t>{1, 1, 3, 5, 1, 3, 5, 2, 15}));
}

TEST(Executor, KernelsGetMemoryThreadsAndMarks) {
  PlanText text;
  text.input("x", {"[1000]", 0});
  text.call("square", "square", "[0, 0, 0]", {{"[1000]", 1}});
  const auto executor = executor_of(text.text("[1, 0, 0]"));
  const NDArray x = tensor_value("x", {1000}, DType::float_(32));
  ASSERT_TRUE(executor->set_input(0, x).ok());
  for (const int threads : {1, 3}) {
    executor->set_threads(threads);
    EXPECT_EQ(executor->threads(), threads);
    reset_marks();
    ASSERT_TRUE(executor->run().ok());
    EXPECT_EQ(collect_marks()[3].visits, 1000u);
    for (size_t i = 0; i < 1000; ++i)
      ASSERT_EQ(executor->output(0).as<float>()[i], x.as<float>()[i] * x.as<float>()[i]);
  }
}

TEST(Executor, ProfileTimesEveryCall) {
  const auto executor = executor_of(small_plan(), {{"p0", floats({2, 2}, {1, 2, 3, 4})}});
  const auto profile = executor->run_profiled(5);
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ(profile->nodes, (std::vector<uint32_t>{2, 4, 5}));
  ASSERT_EQ(profile->total_ns.size(), 5u);
  for (size_t r = 0; r < 5; ++r) {
    double sum = 0;
    for (const auto& row : profile->node_ns) {
      EXPECT_GT(row[r], 0);
      sum += row[r];
    }
    EXPECT_LE(sum, profile->total_ns[r]);
  }
  EXPECT_EQ(values(executor->output(1)), (std::vector<float>{2, 3, 4, 5}));
  EXPECT_FALSE(executor->run_profiled(0).ok());
}

TEST(Executor, ATimelineHasCallsAndLoopsInTheRun) {
  for (const int threads : {1, 3}) {
    const auto executor = executor_of(small_plan(), {{"p0", floats({2, 2}, {1, 2, 3, 4})}});
    executor->set_threads(threads);
    const auto run = executor->run_timeline();
    ASSERT_TRUE(run.ok());
    ASSERT_EQ(run->calls.size(), 3u);
    double at = 0;
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(run->calls[i].node, (std::vector<uint32_t>{2, 4, 5})[i]);
      EXPECT_LE(at, run->calls[i].begin_ns);
      EXPECT_LE(run->calls[i].begin_ns, at = run->calls[i].end_ns);
    }
    EXPECT_LE(at, run->total_ns);
    EXPECT_TRUE(run->loops.empty()) << "these kernels have no parallel loop";
    EXPECT_EQ(values(executor->output(1)), (std::vector<float>{2, 3, 4, 5}));
  }
}

TEST(Executor, OneNodeAtATimeAndWithAnotherKernel) {
  const auto executor = executor_of(small_plan(), {{"p0", floats({2, 2}, {1, 2, 3, 4})}});
  ASSERT_TRUE(executor->run().ok());
  EXPECT_EQ(executor->node_args(2).size(), 3u);
  EXPECT_TRUE(executor->node_args(3).empty());
  EXPECT_EQ(executor->node_function(0), nullptr);
  EXPECT_EQ(executor->node_function(2)(executor->node_args(2).data()), 0);
  ASSERT_TRUE(executor->set_input(0, floats({2, 2}, {100, 100, 100, 100})).ok());
  ASSERT_TRUE(executor->run_range(4, 6).ok());  // without `add`, so the old sum
  EXPECT_EQ(values(executor->output(0))[0], 0);
  const auto others = kernels();
  executor->replace_function(2, others->find("empty"));
  ASSERT_TRUE(executor->run().ok());
  EXPECT_EQ(values(executor->output(0))[0], 0);
}

TEST(Executor, ManyAtOnceShareConstants) {
  const auto plan = plan_of(small_plan());
  const auto library = kernels();
  const NamedArrays constants = {{"p0", floats({2, 2}, {1, 2, 3, 4})}};
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      auto executor = Executor::create(plan, library, constants);
      const auto f = static_cast<float>(t);
      (void)(*executor)->set_input(0, floats({2, 2}, {f, f, f, f}));
      for (int i = 0; i < 500; ++i) {
        wrong += !(*executor)->run().ok();
        wrong += values((*executor)->output(0)) != std::vector<float>{f, f + 1, f + 2, f + 3};
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

std::string create_error(const std::string& text, const NamedArrays& constants = {}) {
  const auto executor = Executor::create(plan_of(text), kernels(), constants);
  return executor.ok() ? "" : executor.status().message;
}

TEST(Executor, SaysWhatIsWrong) {
  EXPECT_EQ(create_error(small_plan(), {{"q", floats({1}, {0})}}),
            "there is a constant `q`, but the plan has no input of that name");
  EXPECT_EQ(create_error(small_plan(), {{"p0", floats({4}, {0, 0, 0, 0})}}),
            "input `p0` is float32[2, 2], but was given float32[4]");
  PlanText unknown;
  unknown.input("x", {"[2]", 0}).call("n", "no_such", "[0, 0, 0]", {{"[2]", 1}});
  EXPECT_EQ(create_error(unknown.text("[1, 0, 0]")),
            "the kernel `no_such` of node `n` is not among the model's kernels");
  PlanText gpu;
  gpu.input("x", {"[2]", 0}).call("n", "__copy", "[0, 0, 0]", {{"[2]", 1, "float32", 2}});
  EXPECT_EQ(create_error(gpu.text("[1, 0, 0]"))
                .find("node `n` runs on device type 2; this runtime has the processor (1)"),
            0u);

  PlanText failing;
  failing.input("x", {"[2]", 0}).call("n", "fail", "[0, 0, 0]", {{"[2]", 1}});
  const auto executor = executor_of(failing.text("[1, 0, 0]"));
  const Status failed = executor->run();
  EXPECT_EQ(failed.code, StatusCode::kKernelFailed);
  EXPECT_EQ(failed.message, "the kernel `fail` of node `n` failed with code -7");
  EXPECT_EQ(executor->run_profiled(1).status().message, failed.message);
  EXPECT_EQ(executor->set_input("y", floats({2}, {1, 2})).message, "the model has no input `y`; it has `x`");
  EXPECT_EQ(executor->set_input(1, floats({2}, {1, 2})).message, "there is no input 1: the model has 1");
  EXPECT_EQ(executor->set_input(0, NDArray()).message, "input `x` was given no value");
  EXPECT_EQ(executor->set_input(0, tensor_value("x", {2}, DType::int_(32))).message,
            "input `x` is float32[2], but was given int32[2]");
}

TEST(Executor, NodesWithoutElementsAreNotCalled) {
  PlanText text;
  text.input("x", {"[0, 3]", 0}).call("n", "fail", "[0, 0, 0]", {{"[0, 3]", 1}});
  const auto executor = executor_of(text.text("[1, 0, 0]"));
  EXPECT_TRUE(executor->run().ok());
  EXPECT_EQ(executor->output(0).shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace baton
