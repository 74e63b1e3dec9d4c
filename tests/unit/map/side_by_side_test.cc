// Plans with devices and links side by side, and what a mapping makes short.
#include "baton/map/model/side_by_side.h"

#include <gmock/gmock.h>

#include "baton/map/frontier.h"
#include "baton/map/objective.h"
#include "baton/support/error.h"

#include "in_parts.h"
#include "map/random_problem.h"

namespace baton {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr int kOtherDevice = 5;

// x -> a (processor) -> b (other device, between two copies); a -> c (processor).
Plan two_devices(bool c_overwrites_a) {
  Plan plan;
  const auto add = [&](PlanNode::Kind kind, std::vector<EntryId> inputs, int device, int storage) {
    PlanNode node;
    node.kind = kind;
    node.inputs = std::move(inputs);
    node.first_entry = static_cast<EntryId>(plan.entries.size());
    PlanEntry entry;
    entry.device_type = device;
    entry.storage = storage;
    plan.nodes.push_back(node);
    plan.entries.push_back(entry);
  };
  add(PlanNode::Kind::kInput, {}, 1, 0);
  add(PlanNode::Kind::kKernel, {0}, 1, 1);                       // a
  add(PlanNode::Kind::kCopy, {1}, kOtherDevice, 2);              // there
  add(PlanNode::Kind::kKernel, {2}, kOtherDevice, 3);            // b
  add(PlanNode::Kind::kCopy, {3}, 1, 4);                         // back
  add(PlanNode::Kind::kKernel, {0}, 1, c_overwrites_a ? 1 : 5);  // c
  plan.storages.resize(6);
  return plan;
}

const std::vector<double> kTimes{0, 10, 2, 20, 3, 15};

TEST(SideBySide, DevicesAndLinksOverlap) {
  const PlanQueues found = side_by_side(two_devices(false), kTimes, {{1, "cpu"}, {kOtherDevice, "npu"}});
  EXPECT_DOUBLE_EQ(found.serial_us, 50);
  EXPECT_DOUBLE_EQ(found.latency_us, 35);
  EXPECT_DOUBLE_EQ(found.interval_us, 25);  // the processor: a and c
  ASSERT_EQ(found.queues.size(), 3u);
  EXPECT_EQ(found.queues[0].name, "cpu");
  EXPECT_THAT(found.queues[0].spans, ElementsAre(Pair(0, 10), Pair(10, 25)));
  EXPECT_EQ(found.queues[1].name, "npu");
  EXPECT_THAT(found.queues[1].spans, ElementsAre(Pair(12, 32)));
  EXPECT_EQ(found.queues[2].name, "cpu - npu");
  EXPECT_THAT(found.queues[2].spans, ElementsAre(Pair(10, 12), Pair(32, 35)));
}

TEST(SideBySide, MemoryIsNotOverwrittenBeforeItIsRead) {
  const PlanQueues found = side_by_side(two_devices(true), kTimes, {});
  ASSERT_EQ(found.queues.size(), 3u);
  EXPECT_EQ(found.queues[0].name, "device 1");
  EXPECT_THAT(found.queues[0].spans, ElementsAre(Pair(0, 10), Pair(12, 27)));
}

TEST(SideBySide, APlanThatComputesNothing) {
  Plan plan;
  const PlanQueues found = side_by_side(plan, {}, {});
  EXPECT_TRUE(found.queues.empty());
  EXPECT_EQ(found.latency_us, 0);
}

TEST(MapObjective, HasANameAndRefusesOthers) {
  for (const MapObjective each :
       {MapObjective::kSerial, MapObjective::kLatency, MapObjective::kThroughput, MapObjective::kEnergy})
    EXPECT_EQ(parse_objective(objective_name(each)), each);
  try {
    parse_objective("speed");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("serial, latency, throughput and energy"));
  }
}

using MapObjectives = InParts<2>;
BATON_TEST_IN_PARTS(MapObjectives, 2);
TEST_P(MapObjectives, AreNeverWorseThanTheSerialOptimumAndNeverBelowTheirBound) {
  int shorter = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    if (!is_mine(seed)) continue;
    const MappingProblem problem =
        testing::random_problem(seed, {.nodes = 12, .devices = 3, .tree = true, .transfer = 0.2});
    const auto serial = search_frontier(problem, {});
    if (!serial) continue;
    EXPECT_NEAR(objective_us(problem, *serial, MapObjective::kSerial), serial->us, 1e-6);
    for (const MapObjective each : {MapObjective::kLatency, MapObjective::kThroughput}) {
      const MappingSolution found = search_objective(problem, *serial, each, 5, nullptr);
      EXPECT_NEAR(objective_us(problem, found, each), found.us, 1e-6);
      EXPECT_LE(found.us, objective_us(problem, *serial, each) * (1 + 1e-9));
      EXPECT_GE(found.us, found.bound_us * (1 - 1e-9));
      shorter += found.us < objective_us(problem, *serial, each) * 0.999;
    }
  }
  EXPECT_GT(shorter, 5);
}

}  // namespace
}  // namespace baton
