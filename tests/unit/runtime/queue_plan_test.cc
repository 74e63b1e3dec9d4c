// Which calls of a plan may run side by side.
#include "baton/runtime/queue_plan.h"

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

/// "queue:calls" of everything that a call waits for.
std::vector<std::string> waits_of(const QueuePlan& plan, size_t call) {
  std::vector<std::string> texts;
  for (const QueuePlan::Wait& wait : plan.calls[call].waits)
    texts.push_back(std::to_string(wait.queue) + ":" + std::to_string(wait.calls));
  return texts;
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
  EXPECT_THAT(plan.queues[0].calls, ElementsAre(5));
  EXPECT_THAT(plan.queues[1].calls, ElementsAre(3, 6));
  EXPECT_THAT(plan.queues[3].calls, ElementsAre(0, 4)) << "both directions";
  EXPECT_THAT(waits_of(plan, 0), IsEmpty()) << "an input is there";
  EXPECT_THAT(waits_of(plan, 1), ElementsAre("3:1"));
  EXPECT_THAT(plan.calls[1].wakes, ElementsAre(4, 3));
  EXPECT_THAT(waits_of(plan, 6), IsEmpty()) << "its queue has its operand";
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
  // Queues: the processor (a, b), the device (c), the link (to, again).
  EXPECT_THAT(waits_of(plan, 1), ElementsAre("0:1"));
  EXPECT_THAT(waits_of(plan, 2), ElementsAre("2:1")) << "b overwrites what `to` reads";
  EXPECT_THAT(waits_of(plan, 3), ElementsAre("2:1"));
  EXPECT_THAT(waits_of(plan, 4), ElementsAre("1:1", "0:2"));
}

TEST(QueuePlan, WaitsThatOthersHaveWaitedForAreLeftOut) {
  PlanText text;
  text.input("x", tensor_on(1, 0));
  text.call("a", "add_one", "[0, 0, 0]", {tensor_on(1, 1)});
  text.call("to", "__copy", "[1, 0, 0]", {tensor_on(12, 2)});
  text.call("b", "add_one", "[2, 0, 0]", {tensor_on(12, 3)}, ", \"backend\": \"m\"");
  text.call("back", "__copy", "[3, 0, 0]", {tensor_on(1, 4)});
  text.call("c", "add", "[1, 0, 0], [4, 0, 0]", {tensor_on(1, 5)});
  text.call("once", "add", "[2, 0, 0], [3, 0, 0]", {tensor_on(12, 6)}, ", \"backend\": \"m\"");
  const QueuePlan plan = queue_plan_of(text, "[5, 0, 0], [6, 0, 0]");
  EXPECT_THAT(waits_of(plan, 3), ElementsAre("1:1"));
  EXPECT_THAT(waits_of(plan, 4), ElementsAre("2:2"));
  EXPECT_THAT(waits_of(plan, 5), IsEmpty()) << "its queue waited for `to` before b";
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
