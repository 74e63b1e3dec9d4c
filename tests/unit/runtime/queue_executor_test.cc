// Devices and links side by side, on the processor, `mirror` and a device of the test (desk.h).
#include "baton/runtime/queue_executor.h"

#include <cstring>
#include <random>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baton/support/base/tensor_rule.h"

#include "runtime/desk.h"
#include "runtime/mirror.h"
#include "runtime/plan_text.h"

namespace baton {
namespace {

using ::testing::HasSubstr;

constexpr const char* kByMirror = ", \"backend\": \"mirror\"";
constexpr const char* kByDesk = ", \"backend\": \"desk\"";

PlanText::Tensor on_cpu(int storage, const std::string& shape = "[5]") { return {shape, storage}; }
PlanText::Tensor on_mirror(int storage, const std::string& shape = "[5]") {
  return {shape, storage, "float32", kMirrorKind};
}
PlanText::Tensor on_desk(int storage, const std::string& shape = "[5]") {
  return {shape, storage, "float32", desk::kKind};
}

Executor::Modules all_modules() {
  static const Executor::Modules modules = [] {
    Executor::Modules made = on_both();
    made.push_back(desk::module());
    return made;
  }();
  return modules;
}

std::shared_ptr<const Plan> read_plan(const std::string& text) {
  const auto plan = Plan::parse(text);
  EXPECT_TRUE(plan.ok()) << plan.status().message;
  return *plan;
}

std::unique_ptr<QueueExecutor> queue_executor_of(const std::shared_ptr<const Plan>& plan,
                                                 const NamedArrays& constants = {}, size_t instances = 0) {
  auto made = QueueExecutor::create(plan, all_modules(), constants, instances);
  EXPECT_TRUE(made.ok()) << made.status().message;
  return std::move(*made);
}

NDArray filled(const Shape& shape, float value) {
  NDArray array = NDArray::zeros(shape, DType::float_(32));
  for (float& each : array.as<float>()) each = value;
  return array;
}

std::vector<NDArray> outputs_of(const Executor& executor) {
  std::vector<NDArray> outputs;
  for (size_t i = 0; i < executor.num_outputs(); ++i) outputs.push_back(executor.output(i).copy());
  return outputs;
}

void expect_equal(const std::vector<NDArray>& a, const std::vector<NDArray>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(a[i].equal_bytes(b[i])) << "output " << i;
}

/// x + 1 on the processor, + 1 on mirror, + 1 on the desk, + 1 on the processor
std::string around_all(const std::string& shape = "[5]") {
  PlanText text;
  text.input("x", on_cpu(0, shape));
  text.call("first", "add_one", "[0, 0, 0]", {on_cpu(1, shape)});
  text.call("to_mirror", "__copy", "[1, 0, 0]", {on_mirror(2, shape)});
  text.call("second", "add_one", "[2, 0, 0]", {on_mirror(3, shape)}, kByMirror);
  text.call("across", "__copy", "[3, 0, 0]", {on_desk(4, shape)});
  text.call("third", "add_one", "[4, 0, 0]", {on_desk(5, shape)}, kByDesk);
  text.call("back", "__copy", "[5, 0, 0]", {on_cpu(6, shape)});
  text.call("fourth", "add_one", "[6, 0, 0]", {on_cpu(1, shape)});
  return text.text("[7, 0, 0]");
}

/// Whatever a plan may have: values that several devices read, results in memory that others still read,
/// outputs on any device. The order of the plan says what each node reads, so that every assignment of memory
/// has a result.
std::string random_plan(uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](size_t limit) { return static_cast<size_t>(random() % limit); };
  const int kinds[] = {1, kMirrorKind, desk::kKind};
  const char* const backends[] = {"", kByMirror, kByDesk};
  struct Value {
    size_t node, output, device;
  };
  PlanText text;
  std::vector<Value> values;
  size_t nodes = 0;
  int storages = 0;
  std::vector<int> free[3];  // storage that was written by a node
  const auto tensor = [&](size_t device, bool input) {
    const bool reused = !input && !free[device].empty() && below(3) > 0;
    const int storage = reused ? free[device][below(free[device].size())] : storages++;
    if (!input && !reused) free[device].push_back(storage);
    return PlanText::Tensor{"[7]", storage, "float32", kinds[device]};
  };
  const auto ref = [](const Value& value) {
    return "[" + std::to_string(value.node) + ", " + std::to_string(value.output) + ", 0]";
  };
  for (const char* name : {"x", "y", "w"}) {
    const size_t device = below(3);
    text.input(name, tensor(device, true));
    values.push_back({nodes++, 0, device});
  }
  for (int i = 0; i < 30; ++i) {
    const Value& value = values[values.size() - 1 - below(std::min<size_t>(values.size(), 6))];
    const std::string name = "n" + std::to_string(i);
    const Value from = value;
    switch (below(4)) {
      case 0: {  // a copy, perhaps within the device
        const size_t to = below(3);
        text.call(name, "__copy", ref(from), {tensor(to, false)});
        values.push_back({nodes++, 0, to});
        break;
      }
      case 1: {
        std::vector<Value> beside;
        for (const Value& each : values)
          if (each.device == from.device) beside.push_back(each);
        text.call(name, "add", ref(from) + ", " + ref(beside[below(beside.size())]),
                  {tensor(from.device, false)}, backends[from.device]);
        values.push_back({nodes++, 0, from.device});
        break;
      }
      case 2:
        if (from.device != 2) {  // the desk has no such kernel
          text.call(name, "around", ref(from), {tensor(from.device, false), tensor(from.device, false)},
                    backends[from.device]);
          values.push_back({nodes, 0, from.device});
          values.push_back({nodes++, 1, from.device});
          break;
        }
        [[fallthrough]];
      default:
        text.call(name, "add_one", ref(from), {tensor(from.device, false)}, backends[from.device]);
        values.push_back({nodes++, 0, from.device});
    }
  }
  std::string heads;
  for (int i = 0; i < 4; ++i)
    heads += (i ? ", " : "") + ref(values[values.size() - 1 - below(std::min<size_t>(values.size(), 8))]);
  return text.text(heads);
}

// ---- Results.

TEST(QueueExecutor, OneInputThroughThreeDevices) {
  for (const auto& [text, shape] : std::vector<std::pair<std::string, Shape>>{{"[5]", {5}},
                                                                              {"[]", {}},
                                                                              {"[3, 5, 7]", {3, 5, 7}},
                                                                              {"[1, 4099]", {1, 4099}},
                                                                              {"[0, 3]", {0, 3}}}) {
    const auto executor = queue_executor_of(read_plan(around_all(text)));
    EXPECT_EQ(executor->queues().queues.size(), 6u);
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(executor->next()->set_input(0, filled(shape, static_cast<float>(i))).ok());
      const auto done = executor->run();
      ASSERT_TRUE(done.ok()) << done.status().message;
      EXPECT_TRUE((*done)->output(0).equal_bytes(filled(shape, static_cast<float>(i + 4)))) << text;
    }
  }
}

TEST(QueueExecutor, RandomPlansComputeWhatThePlainExecutorDoes) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto plan = read_plan(random_plan(seed));
    const NamedArrays constants{{"w", tensor_value("w", {7}, DType::float_(32))}};
    auto plain = Executor::create(plan, all_modules(), constants);
    ASSERT_TRUE(plain.ok()) << plain.status().message;
    const auto executor = queue_executor_of(plan, constants);
    std::deque<std::vector<NDArray>> wanted;
    for (int i = 0; i < 12; ++i) {
      if (!executor->next()) {
        const auto done = executor->finish();
        ASSERT_TRUE(done.ok()) << done.status().message;
        expect_equal(outputs_of(**done), wanted.front());
        wanted.pop_front();
      }
      for (Executor* each : {plain->get(), executor->next()}) {
        ASSERT_TRUE(each->set_input(0, filled({7}, static_cast<float>(i))).ok());
        ASSERT_TRUE(each->set_input(1, filled({7}, static_cast<float>(2 * i))).ok());
      }
      ASSERT_TRUE((*plain)->run().ok());
      wanted.push_back(outputs_of(**plain));
      ASSERT_TRUE(executor->start().ok());
    }
    for (; !wanted.empty(); wanted.pop_front()) {
      const auto done = executor->finish();
      ASSERT_TRUE(done.ok()) << done.status().message;
      expect_equal(outputs_of(**done), wanted.front());
    }
  }
}

TEST(QueueExecutor, APlanOnOneDevice) {
  for (const bool processor : {true, false}) {
    const auto tensor = [&](int storage) { return processor ? on_cpu(storage) : on_mirror(storage); };
    PlanText text;
    text.input("x", tensor(0)).input("w", tensor(1));
    text.call("sum", "add", "[0, 0, 0], [1, 0, 0]", {tensor(2)}, processor ? "" : kByMirror);
    text.call("around", "around", "[2, 0, 0]", {tensor(3), tensor(4)}, processor ? "" : kByMirror);
    const auto executor = queue_executor_of(read_plan(text.text("[3, 1, 0], [2, 0, 0], [0, 0, 0]")),
                                            {{"w", filled({5}, 10)}}, 2);
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(executor->next()->set_input("x", filled({5}, static_cast<float>(i))).ok());
      ASSERT_TRUE(executor->start().ok());
      if (executor->next()) continue;
      const auto done = executor->finish();
      ASSERT_TRUE(done.ok()) << done.status().message;
      const auto x = static_cast<float>(i - 1);  // the one before is the oldest
      expect_equal(outputs_of(**done), {filled({5}, x + 10 + 1), filled({5}, x + 10), filled({5}, x)});
    }
  }
}

TEST(QueueExecutor, APlanThatComputesNothing) {
  PlanText text;
  text.input("x", on_cpu(0)).input("y", on_mirror(1));
  const auto executor = queue_executor_of(read_plan(text.text("[0, 0, 0], [1, 0, 0]")));
  EXPECT_EQ(executor->instances(), 1u) << "as on the processor alone";
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(executor->next()->set_input(1, filled({5}, static_cast<float>(i))).ok());
    const auto done = executor->run();
    ASSERT_TRUE(done.ok()) << done.status().message;
    EXPECT_EQ((*done)->output(1).as<float>()[4], static_cast<float>(i));
  }
}

TEST(QueueExecutor, OutputsStayUntilTheInstanceStartsAgain) {
  const auto executor = queue_executor_of(read_plan(around_all()), {}, 2);
  const auto put = [&](float value) {
    ASSERT_TRUE(executor->next()->set_input(0, filled({5}, value)).ok());
    ASSERT_TRUE(executor->start().ok());
  };
  put(0);
  put(100);
  const auto first = executor->finish();
  ASSERT_TRUE(first.ok());
  EXPECT_EQ((*first)->output(0).as<float>()[0], 4);
  const auto second = executor->finish();
  EXPECT_EQ((*second)->output(0).as<float>()[0], 104);
  EXPECT_EQ((*first)->output(0).as<float>()[0], 4);
}

// ---- Side by side.

std::atomic<int> arrived{0};

/// Waits for another kernel that calls it: alone it fails.
int meet() {
  ++arrived;
  const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (arrived.load() < 2)
    if (std::chrono::steady_clock::now() > late) return -99;
  return 0;
}

int meet_here(void** args) {
  const auto* from = static_cast<const baton_tensor*>(args[0]);
  const auto* to = static_cast<const baton_tensor*>(args[1]);
  std::memcpy(to->host, from->host, 5 * sizeof(float));
  return meet();
}

TEST(QueueExecutor, DevicesComputeAtTheSameTime) {
  all_modules();
  desk::kernels["meet"] = [](const std::vector<float*>& tensors, int count) {
    std::copy_n(tensors[0], count, tensors[1]);
    return meet();
  };
  PlanText text;
  text.input("x", on_cpu(0));
  text.call("to", "__copy", "[0, 0, 0]", {on_desk(1)});
  text.call("there", "meet", "[1, 0, 0]", {on_desk(2)}, kByDesk);
  text.call("here", "add_one", "[0, 0, 0]", {on_cpu(3)});
  text.call("back", "__copy", "[2, 0, 0]", {on_cpu(4)});
  text.call("sum", "add", "[3, 0, 0], [4, 0, 0]", {on_cpu(5)});
  const auto executor = queue_executor_of(read_plan(text.text("[5, 0, 0]")), {}, 1);
  executor->next()->replace_function(3, meet_here);
  for (int i = 0; i < 50; ++i) {
    arrived = 0;
    ASSERT_TRUE(executor->next()->set_input(0, filled({5}, static_cast<float>(i))).ok());
    const auto done = executor->run();
    ASSERT_TRUE(done.ok()) << done.status().message;
    EXPECT_EQ((*done)->output(0).as<float>()[2], static_cast<float>(2 * i));
  }
}

std::atomic<int> begun_here{0};

int count_here(void** args) {
  ++begun_here;
  const auto* from = static_cast<const baton_tensor*>(args[0]);
  const auto* to = static_cast<const baton_tensor*>(args[1]);
  std::memcpy(to->host, from->host, 5 * sizeof(float));
  return 0;
}

// A chain: nothing of one input overlaps.
TEST(QueueExecutor, InputsOverlap) {
  static constexpr int kInputs = 20;
  all_modules();
  static std::atomic<int> computed{0};
  computed = begun_here = 0;
  // Each input is computed here while the one before is on the desk.
  desk::kernels["after_next"] = [](const std::vector<float*>& tensors, int count) {
    std::copy_n(tensors[0], count, tensors[1]);
    const int wanted = std::min(++computed + 1, kInputs);
    const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (begun_here.load() < wanted)
      if (std::chrono::steady_clock::now() > late) return -99;
    return 0;
  };
  PlanText text;
  text.input("x", on_cpu(0));
  text.call("here", "add_one", "[0, 0, 0]", {on_cpu(1)});
  text.call("to", "__copy", "[1, 0, 0]", {on_desk(2)});
  text.call("there", "after_next", "[2, 0, 0]", {on_desk(3)}, kByDesk);
  text.call("back", "__copy", "[3, 0, 0]", {on_cpu(4)});
  const auto executor = queue_executor_of(read_plan(text.text("[4, 0, 0]")), {}, 3);
  for (int i = 0; i < 3; ++i) {
    executor->next()->replace_function(1, count_here);
    ASSERT_TRUE(executor->next()->set_input(0, filled({5}, static_cast<float>(i))).ok());
    ASSERT_TRUE(executor->start().ok());
  }
  for (int i = 0; i < kInputs; ++i) {
    const auto done = executor->finish();
    ASSERT_TRUE(done.ok()) << done.status().message;
    EXPECT_EQ((*done)->output(0).as<float>()[1], static_cast<float>(i));
    if (i + 3 >= kInputs) continue;
    ASSERT_TRUE(executor->next()->set_input(0, filled({5}, static_cast<float>(i + 3))).ok());
    ASSERT_TRUE(executor->start().ok());
  }
  EXPECT_EQ(executor->on_the_way(), 0u);
}

TEST(QueueExecutor, OlderInputsComeFirst) {
  PlanText text;
  text.input("x", on_cpu(0));
  text.call("first", "add_one", "[0, 0, 0]", {on_cpu(1)});
  text.call("second", "add_one", "[1, 0, 0]", {on_cpu(2)});
  for (const size_t instances : {1, 2, 3, 5}) {
    const auto executor = queue_executor_of(read_plan(text.text("[2, 0, 0]")), {}, instances);
    begun_here = 0;
    for (size_t i = 0; i < instances; ++i) {
      executor->next()->replace_function(2, count_here);
      ASSERT_TRUE(executor->start().ok());
    }
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(executor->finish().ok());
      EXPECT_EQ(begun_here, i + 1) << "of " << instances << " instances";
      ASSERT_TRUE(executor->start().ok());
    }
  }
}

TEST(QueueExecutor, AThousandRunsWithParallelLoopsOnBothSides) {
  PlanText text;
  text.input("x", on_cpu(0, "[64]"));
  text.call("to", "__copy", "[0, 0, 0]", {on_mirror(1, "[64]")});
  text.call("there", "square", "[1, 0, 0]", {on_mirror(2, "[64]")}, kByMirror);
  text.call("here", "square", "[0, 0, 0]", {on_cpu(3, "[64]")});
  text.call("back", "__copy", "[2, 0, 0]", {on_cpu(4, "[64]")});
  text.call("sum", "add", "[3, 0, 0], [4, 0, 0]", {on_cpu(5, "[64]")});
  const auto executor = queue_executor_of(read_plan(text.text("[5, 0, 0]")));
  executor->set_threads(3);
  EXPECT_EQ(executor->threads(), 3);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(executor->next()->set_input(0, filled({64}, static_cast<float>(i % 50))).ok());
    ASSERT_TRUE(executor->start().ok());
    if (executor->next() && i < 999) continue;
    const auto done = executor->finish();
    ASSERT_TRUE(done.ok()) << done.status().message;
  }
  while (executor->on_the_way()) ASSERT_TRUE(executor->finish().ok());
}

TEST(QueueExecutor, TwoAtOnce) {
  const auto plan = read_plan(around_all("[333]"));
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      const auto executor = queue_executor_of(plan);
      for (int i = 0; i < 100; ++i) {
        wrong += !executor->next()->set_input(0, filled({333}, static_cast<float>(t + i))).ok();
        const auto done = executor->run();
        wrong += !done.ok() || (*done)->output(0).as<float>()[i] != static_cast<float>(t + i + 4);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(QueueExecutor, MayEndWithInputsOnTheWay) {
  for (int i = 0; i < 20; ++i) {
    const auto executor = queue_executor_of(read_plan(around_all("[1000]")));
    for (int k = 0; k <= i % 4; ++k) ASSERT_TRUE(executor->start().ok());
  }
}

// ---- Memory.

TEST(QueueExecutor, HasAsManyInstancesAsThereIsMemoryFor) {
  PlanText text;
  text.input("x", on_cpu(0, "[1000]"));
  text.call("to", "__copy", "[0, 0, 0]", {on_desk(1, "[1000]")});
  text.input("w", on_desk(2, "[100000]"));
  text.input("b", on_desk(3, "[1000]"));
  text.call("there", "add", "[1, 0, 0], [3, 0, 0]", {on_desk(4, "[1000]")}, kByDesk);
  text.call("back", "__copy", "[4, 0, 0]", {on_cpu(5, "[1000]")});
  const auto plan = read_plan(text.text("[5, 0, 0], [2, 0, 0]"));
  const NamedArrays constants{{"w", filled({100000}, 7)}, {"b", filled({1000}, 1)}};
  const int64_t before = desk::free_bytes;
  desk::free_bytes = 2 * 8500 + 410'000;  // two instances of two tensors, and one of the constants
  {
    const auto executor = queue_executor_of(plan, constants);
    EXPECT_EQ(executor->instances(), 2u);
    for (int i = 0; i < 4; ++i) {
      const auto done = executor->run();
      ASSERT_TRUE(done.ok());
      EXPECT_EQ((*done)->output(0).as<float>()[999], 1);
      EXPECT_EQ((*done)->output(1).as<float>()[99'999], 7) << "constants are shared";
    }
    const auto three = QueueExecutor::create(plan, all_modules(), constants, 3);
    EXPECT_EQ(three.status().code, StatusCode::kOutOfMemory);
  }
  EXPECT_EQ(desk::free_bytes.load(), 2 * 8500 + 410'000);
  desk::free_bytes = 100;
  EXPECT_EQ(QueueExecutor::create(plan, all_modules(), constants).status().code, StatusCode::kOutOfMemory);
  desk::free_bytes = before;
}

TEST(QueueExecutor, InstancesShareTheQueuesOfADevice) {
  const int before = desk::queues_created;
  const auto executor = queue_executor_of(read_plan(around_all()), {}, 5);
  EXPECT_EQ(executor->instances(), 5u);
  EXPECT_EQ(desk::queues_created - before, 4) << "kernels, inputs, and two links";
}

// ---- Failures.

TEST(QueueExecutor, AFailureStopsAllQueuesAndIsReportedOnce) {
  all_modules();
  static std::atomic<int> calls{0}, failing{-1};
  calls = 0;
  desk::kernels["sometimes"] = [](const std::vector<float*>& tensors, int count) {
    std::copy_n(tensors[0], count, tensors[1]);
    return calls++ == failing ? -13 : 0;
  };
  PlanText text;
  text.input("x", on_cpu(0));
  text.call("first", "add_one", "[0, 0, 0]", {on_cpu(1)});
  text.call("to", "__copy", "[1, 0, 0]", {on_desk(2)});
  text.call("there", "sometimes", "[2, 0, 0]", {on_desk(3)}, kByDesk);
  text.call("to_mirror", "__copy", "[1, 0, 0]", {on_mirror(4)});
  text.call("mirrored", "add_one", "[4, 0, 0]", {on_mirror(5)}, kByMirror);
  text.call("back", "__copy", "[3, 0, 0]", {on_cpu(6)});
  text.call("mirror_back", "__copy", "[5, 0, 0]", {on_cpu(7)});
  text.call("sum", "add", "[6, 0, 0], [7, 0, 0]", {on_cpu(8)});
  const auto executor = queue_executor_of(read_plan(text.text("[8, 0, 0]")));
  for (int round = 0; round < 100; ++round) {
    calls = 0;
    failing = round % 4;
    int started = 0, finished = 0;
    Status status;
    while (status.ok() && finished < 8) {
      while (executor->next() && started < 8) {
        ASSERT_TRUE(executor->next()->set_input(0, filled({5}, static_cast<float>(started++))).ok());
        ASSERT_TRUE(executor->start().ok());
      }
      const auto done = executor->finish();
      status = done.status();
      if (!done.ok()) break;
      EXPECT_EQ((*done)->output(0).as<float>()[0], static_cast<float>(2 * finished + 3));
      ++finished;
    }
    EXPECT_EQ(status.message, "the device `desk` failed: the desk is full");
    EXPECT_LE(finished, round % 4);
    EXPECT_EQ(executor->on_the_way(), 0u);
    EXPECT_EQ(executor->finish().status().code, StatusCode::kInvalidArgument) << "reported once";
    failing = -1;
    ASSERT_TRUE(executor->next()->set_input(0, filled({5}, 1)).ok());
    const auto after = executor->run();
    ASSERT_TRUE(after.ok()) << after.status().message;
    EXPECT_EQ((*after)->output(0).as<float>()[4], 5);
  }
}

TEST(QueueExecutor, ErrorsNameTheKernel) {
  PlanText text;
  text.input("x", on_cpu(0));
  text.call("to", "__copy", "[0, 0, 0]", {on_mirror(1)});
  text.call("bad", "fail", "[0, 0, 0]", {on_cpu(2)});
  const auto executor = queue_executor_of(read_plan(text.text("[1, 0, 0], [2, 0, 0]")));
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(executor->run().status().message, "the kernel `fail` of node `bad` failed with code -7");
  PlanText there;
  there.input("x", on_mirror(0)).call("n", "fail", "[0, 0, 0]", {on_mirror(1)}, kByMirror);
  EXPECT_EQ(queue_executor_of(read_plan(there.text("[1, 0, 0]")))->run().status().message,
            "the device `mirror` failed: a kernel failed with code -7");
}

TEST(QueueExecutor, MisuseIsAnError) {
  const auto executor = queue_executor_of(read_plan(around_all()), {}, 1);
  EXPECT_THAT(executor->finish().status().message, HasSubstr("no input is on the way"));
  ASSERT_TRUE(executor->start().ok());
  EXPECT_EQ(executor->next(), nullptr);
  EXPECT_THAT(executor->start().message, HasSubstr("all 1 instances are on the way"));
  EXPECT_THAT(executor->run().status().message, HasSubstr("inputs are on the way"));
  EXPECT_TRUE(executor->finish().ok());
}

TEST(QueueExecutor, AnInterruptEndsAllInputs) {
  const auto executor = queue_executor_of(read_plan(around_all()));
  std::atomic<bool> interrupt{true};
  executor->set_interrupt(&interrupt);
  ASSERT_TRUE(executor->start().ok());
  ASSERT_TRUE(executor->start().ok());
  EXPECT_EQ(executor->finish().status().message, "interrupted while running");
  EXPECT_EQ(executor->on_the_way(), 0u);
  interrupt = false;
  EXPECT_TRUE(executor->run().ok());
}

}  // namespace
}  // namespace baton
