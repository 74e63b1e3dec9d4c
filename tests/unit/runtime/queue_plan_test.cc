// Which calls of a plan may run side by side.
#include "baton/runtime/queue_plan.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/plan_text.h"

namespace baton {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

QueuePlan queue_plan_of(const PlanText& text, const std::string& heads) {
  const auto plan = Plan::parse(text.text(heads));
  EXPECT_TRUE(plan.ok()) << plan.status().message;
  return queue_plan(**plan);
}

PlanText::Tensor tensor_on(int device, int storage) { return {"[2]", storage, "float32", device}; }

/// The nodes that a queue computes, in order.
std::vector<uint32_t> nodes_of(const QueuePlan& plan, size_t queue) {
  std::vector<uint32_t> nodes;
  for (const uint32_t call : plan.queues[queue].calls) {
    EXPECT_EQ(plan.calls[call].queue, queue);
    EXPECT_EQ(plan.calls[call].position, nodes.size());
    nodes.push_back(plan.calls[call].node);
  }
  return nodes;
}

const QueuePlan::Call& call_of(const QueuePlan& plan, uint32_t node) {
  return *std::find_if(plan.calls.begin(), plan.calls.end(),
                       [&](const QueuePlan::Call& call) { return call.node == node; });
}

/// The nodes that a node's call waits for.
std::vector<uint32_t> waits_of(const QueuePlan& plan, uint32_t node) {
  std::vector<uint32_t> nodes;
  for (const QueuePlan::Wait& wait : call_of(plan, node).waits) {
    nodes.push_back(nodes_of(plan, wait.queue)[wait.calls - 1]);
    EXPECT_THAT(call_of(plan, nodes.back()).wakes, ::testing::Contains(call_of(plan, node).queue));
  }
  return nodes;
}

TEST(QueuePlan, TheProcessorThenDevicesThenLinks) {
  PlanText text;
  text.input("x", tensor_on(1, 0));
  text.call("to", "__copy", "[0, 0, 0]", {tensor_on(12, 1)});
  text.call("there", "add_one", "[1, 0, 0]", {tensor_on(12, 2)}, ", \"backend\": \"m\"");
  text.call("across", "__copy", "[2, 0, 0]", {tensor_on(4, 3)});
  text.call("other", "add_one", "[3, 0, 0]", {tensor_on(4, 4)}, ", \"backend\": \"o\"");
  text.call("back", "__copy", "[2, 0, 0]", {tensor_on(1, 5)});
  text.call("here", "add_one", "[5, 0, 0]", {tensor_on(1, 6)});
  text.call("same", "__copy", "[4, 0, 0]", {tensor_on(4, 7)});
  const QueuePlan plan = queue_plan_of(text, "[6, 0, 0], [7, 0, 0]");
  std::vector<std::string> names;
  for (const QueuePlan::Queue& queue : plan.queues)
    names.push_back(std::to_string(queue.from) + "-" + std::to_string(queue.to));
  EXPECT_THAT(names, ElementsAre("1-1", "4-4", "12-12", "1-12", "4-12"));
  EXPECT_THAT(nodes_of(plan, 0), ElementsAre(6));
  EXPECT_THAT(nodes_of(plan, 1), ElementsAre(4, 7));
  EXPECT_THAT(nodes_of(plan, 3), ElementsAre(1, 5)) << "both directions";
  EXPECT_THAT(waits_of(plan, 1), IsEmpty()) << "an input is there";
  EXPECT_THAT(waits_of(plan, 2), ElementsAre(1));
  EXPECT_THAT(waits_of(plan, 3), ElementsAre(2));
  EXPECT_THAT(waits_of(plan, 5), ElementsAre(2));
  EXPECT_THAT(waits_of(plan, 7), IsEmpty()) << "its queue has its operand";
}

TEST(QueuePlan, MemoryIsNotOverwrittenBeforeItIsRead) {
  PlanText text;
  text.input("x", tensor_on(1, 0));
  text.call("a", "add_one", "[0, 0, 0]", {tensor_on(1, 1)});
  text.call("reshape_nop", "__nop", "[1, 0, 0]", {tensor_on(1, 1)});
  text.call("to", "__copy", "[2, 0, 0]", {tensor_on(12, 2)});
  text.call("b", "add_one", "[0, 0, 0]", {tensor_on(1, 1)});                           // overwrites a
  text.call("c", "add_one", "[3, 0, 0]", {tensor_on(12, 2)}, ", \"backend\": \"m\"");  // in place
  text.call("again", "__copy", "[4, 0, 0]", {tensor_on(12, 2)});                       // overwrites c
  const QueuePlan plan = queue_plan_of(text, "[6, 0, 0]");
  EXPECT_THAT(waits_of(plan, 3), ElementsAre(1));
  EXPECT_THAT(waits_of(plan, 4), ElementsAre(3)) << "b overwrites what `to` reads";
  EXPECT_THAT(waits_of(plan, 5), ElementsAre(3));
  EXPECT_THAT(waits_of(plan, 6), ::testing::UnorderedElementsAre(4, 5));
}

TEST(QueuePlan, WaitsThatOthersHaveWaitedForAreLeftOut) {
  PlanText text;
  text.input("x", tensor_on(1, 0));
  text.call("a", "add_one", "[0, 0, 0]", {tensor_on(1, 1)});
  text.call("to", "__copy", "[1, 0, 0]", {tensor_on(12, 2)});
  text.call("b", "add_one", "[2, 0, 0]", {tensor_on(12, 3)}, ", \"backend\": \"m\"");
  text.call("both", "add", "[2, 0, 0], [3, 0, 0]", {tensor_on(12, 4)}, ", \"backend\": \"m\"");
  text.call("back", "__copy", "[4, 0, 0]", {tensor_on(1, 5)});
  text.call("c", "add", "[1, 0, 0], [5, 0, 0]", {tensor_on(1, 6)});
  const QueuePlan plan = queue_plan_of(text, "[6, 0, 0]");
  EXPECT_THAT(waits_of(plan, 3), ElementsAre(2));
  EXPECT_THAT(waits_of(plan, 4), IsEmpty()) << "its queue waited for `to` before b";
  EXPECT_THAT(waits_of(plan, 5), ElementsAre(4));
  EXPECT_THAT(waits_of(plan, 6), ElementsAre(5));
}

TEST(QueuePlan, AQueueDoesNotWaitWhileItCouldDoSomethingElse) {
  PlanText text;
  text.input("x", tensor_on(1, 0));
  text.call("to", "__copy", "[0, 0, 0]", {tensor_on(12, 1)});
  text.call("there", "add_one", "[1, 0, 0]", {tensor_on(12, 2)}, ", \"backend\": \"m\"");
  text.call("back", "__copy", "[2, 0, 0]", {tensor_on(1, 3)});
  text.call("after", "add_one", "[3, 0, 0]", {tensor_on(1, 4)});
  text.call("other", "add_one", "[0, 0, 0]", {tensor_on(1, 5)});
  text.call("more", "add_one", "[5, 0, 0]", {tensor_on(1, 6)});
  text.call("sum", "add", "[4, 0, 0], [6, 0, 0]", {tensor_on(1, 7)});
  EXPECT_THAT(nodes_of(queue_plan_of(text, "[7, 0, 0]"), 0), ElementsAre(5, 6, 4, 7));
  // What others wait for comes first; else the order is the plan's.
  PlanText first;
  first.input("x", tensor_on(1, 0));
  first.call("a", "add_one", "[0, 0, 0]", {tensor_on(1, 1)});
  first.call("b", "add_one", "[1, 0, 0]", {tensor_on(1, 2)});
  first.call("c", "add_one", "[0, 0, 0]", {tensor_on(1, 3)});
  first.call("to", "__copy", "[3, 0, 0]", {tensor_on(12, 4)});
  EXPECT_THAT(nodes_of(queue_plan_of(first, "[2, 0, 0], [4, 0, 0]"), 0), ElementsAre(3, 1, 2));
  // But not where it would change what is read: c overwrites a.
  PlanText shared;
  shared.input("x", tensor_on(1, 0));
  shared.call("a", "add_one", "[0, 0, 0]", {tensor_on(1, 1)});
  shared.call("b", "add_one", "[1, 0, 0]", {tensor_on(1, 2)});
  shared.call("c", "add_one", "[0, 0, 0]", {tensor_on(1, 1)});
  shared.call("to", "__copy", "[3, 0, 0]", {tensor_on(12, 4)});
  EXPECT_THAT(nodes_of(queue_plan_of(shared, "[2, 0, 0], [4, 0, 0]"), 0), ElementsAre(1, 2, 3));
}

TEST(QueuePlan, OnTheProcessorAloneTheOrderIsThePlans) {
  PlanText text;
  text.input("x", tensor_on(1, 0));
  text.call("a", "add_one", "[0, 0, 0]", {tensor_on(1, 1)});
  text.call("b", "add_one", "[0, 0, 0]", {tensor_on(1, 2)});
  text.call("c", "add_one", "[1, 0, 0]", {tensor_on(1, 3)});
  EXPECT_THAT(nodes_of(queue_plan_of(text, "[2, 0, 0], [3, 0, 0]"), 0), ElementsAre(1, 2, 3));
}

TEST(QueuePlan, APlanWithoutCallsHasTheProcessorsQueue) {
  PlanText text;
  text.input("x", tensor_on(12, 0));
  const QueuePlan plan = queue_plan_of(text, "[0, 0, 0]");
  ASSERT_EQ(plan.queues.size(), 1u);
  EXPECT_EQ(plan.queues[0].from, 1);
  EXPECT_THAT(plan.calls, IsEmpty());
}

}  // namespace
}  // namespace baton
