// Every operator of every network is in the report: with the time of its kernels, folded into something that
// is named, or retired with a reason. Nothing is compiled: reports are made from the plan and the table of
// origins alone.
#include <cctype>

#include <gmock/gmock.h>

#include "baton/frontend/workloads/networks.h"
#include "baton/ir/visit.h"
#include "baton/profile/report/profile.h"
#include "baton/profile/write/report_json.h"

#include "driver/lowered.h"

namespace baton {
namespace {

/// One microsecond for each call of the plan.
FusedTimes made_up(const Plan& plan) {
  FusedTimes times;
  for (uint32_t i = 0; i < plan.nodes.size(); ++i) {
    if (plan.nodes[i].kind != PlanNode::Kind::kKernel) continue;
    times.nodes.push_back(i);
    times.node_us.push_back({1.0});
  }
  times.plain_us = times.profiled_us = {static_cast<double>(times.nodes.size())};
  return times;
}

void check(const std::string& name) {
  const test::Lowered model = test::lowered(name.c_str(), 3);
  const Plan& plan = *model.plan.graph;
  const ReportSource source{model.origins, {}, "llvm"};
  const auto json = to_json(make_report(source, plan, made_up(plan)));

  size_t found = 0, calls = 0;
  for (const auto& [global, function] : model.source->functions())
    post_order(Expr(function), [&](const Expr& node) {
      const auto* call = as<CallNode>(node);
      calls += call && call->op();
    });
  for (const auto& row : json["operators"]) {
    double us = 0;
    for (const auto& kernel : json["kernels"])
      for (const auto& id : kernel["origins"]) us += id == row["id"] ? kernel["median_us"].get<double>() : 0;
    // What only says a shape has its result where its argument is: it has a node, which is not called.
    const bool has_place = us > 0 || !row["nodes"].empty();
    const bool retired = !row["retired"].is_null() && !row["retired"]["reason"].get<std::string>().empty();
    const bool accounted = has_place || !row["folded_into"].empty() || retired;
    EXPECT_TRUE(accounted) << name << ": " << row;
    found += accounted;
  }
  EXPECT_EQ(found, calls) << name << ": one row for each call of the source";
}

class EveryNetwork : public testing::TestWithParam<std::string> {};
TEST_P(EveryNetwork, HasAllItsOperatorsInTheReport) { check(GetParam()); }

// All but those with 500 MB of weights and more (bench/bars/profile_levels.cc has these too).
std::vector<std::string> networks() {
  std::vector<std::string> names;
  for (const workloads::Workload& workload : workloads::all_workloads())
    if (const std::string name = workload.name; name != "vgg-13" && name != "vgg-16" && name != "vgg-19")
      names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Profile, EveryNetwork, testing::ValuesIn(networks()), [](const auto& info) {
  std::string name = info.param;
  std::erase_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); });
  return name;
});

}  // namespace
}  // namespace baton
