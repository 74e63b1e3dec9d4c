// What joins plan, operators and functions takes time in proportion to the plan: nothing is searched for by
// name, node by node.
#include <ctime>

#include <gmock/gmock.h>

#include "baton/driver/build_result.h"
#include "baton/driver/cut/node_selection.h"
#include "baton/driver/fused_module.h"
#include "baton/driver/initialize.h"
#include "baton/driver/origins/operator_map.h"
#include "baton/driver/origins/origin_report.h"
#include "baton/driver/origins/origins_json.h"
#include "baton/driver/plan/graph_json.h"
#include "baton/ir/op.h"
#include "baton/profile/report/report.h"
#include "baton/profile/write/report_json.h"
#include "baton/support/json.h"

namespace baton {
namespace {

const Type kType = tensor_type(std::vector<int64_t>{4}, DType::float_(32));

NodeInfo typed_info(const OriginSet& origins, Type type) { return NodeInfo(origins, {}, std::move(type)); }

/// A chain of `count` calls of primitive functions, each of a global one of its own, and every operator from
/// a line of its own.
IRModule chain_of(int count) {
  initialize();
  const NodeInfo none = typed_info(OriginSet::none(), kType);
  const IRModule module = make_module();
  const Var input = make_var("x", kType, none);
  Expr value = input;
  for (int i = 0; i < count; ++i) {
    const std::string op = i % 2 ? "exp" : "tanh";
    const OriginSet origin = OriginSet::of(Origin::create(op, {}, {}));
    const Var x = make_var("p0", kType, none);
    const Expr body = make_call(op_expr(*find_op(op)), {x}, {}, typed_info(origin, kType));
    const std::string name = "f" + std::to_string(i);
    module->set(name, make_function({x}, body, kType, {{"Primitive", 1}},
                                    typed_info(OriginSet::none(), func_type({kType}, kType))));
    value = make_call(module->global_var(name), {value}, {}, typed_info(origin, kType));
  }
  module->set("main", make_function({input}, value, kType, {},
                                    typed_info(OriginSet::none(), func_type({kType}, kType))));
  return module;
}

/// A profile in which every node took a microsecond.
FusedTimes a_microsecond_each(const Plan& plan) {
  FusedTimes times;
  for (uint32_t node = 0; node < plan.nodes.size(); ++node) {
    if (plan.nodes[node].kind != PlanNode::Kind::kKernel) continue;
    times.nodes.push_back(node);
    times.node_us.push_back({1.0});
  }
  times.plain_us = times.profiled_us = {static_cast<double>(times.nodes.size())};
  return times;
}

/// Seconds of the processor for each step over a plan of `count` nodes.
std::vector<std::pair<std::string, double>> seconds_by_step(int count) {
  std::vector<std::pair<std::string, double>> steps;
  const auto timed = [&](const char* name, auto&& step) {
    const std::clock_t start = std::clock();
    step();
    steps.emplace_back(name, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  };
  const auto nodes = static_cast<size_t>(count) + 1;  // and the input
  BuildResult built;
  built.source = built.optimized = chain_of(count);
  timed("plan", [&] { built.plan = make_plan(built.optimized); });
  const Plan& plan = *built.plan.graph;
  EXPECT_EQ(plan.nodes.size(), nodes);
  timed("origins",
        [&] { built.origins = origin_report(built.optimized->origins(), built.plan, {}, FusionLog()); });
  std::string graph, origins;
  timed("graph.json", [&] { graph = graph_json(plan); });
  timed("graph.json read", [&] { EXPECT_TRUE(Plan::parse(graph).ok()); });
  timed("origins.json", [&] { origins = packed_origins(*built.origins); });
  timed("origins.json read", [&] { EXPECT_EQ(read_origins(origins), built.origins); });
  timed("map", [&] {
    const OperatorMap map(built.plan.graph, with_lines(*built.origins, built.optimized->origins()));
    for (uint32_t node = 1; node < nodes; ++node) EXPECT_EQ(map.operators_of({node}).size(), 1u);
  });
  timed("selection",
        [&] { EXPECT_EQ(select_nodes(built.plan, "1:" + std::to_string(count)).size(), nodes - 1); });
  timed("fused module",
        [&] { EXPECT_EQ(fused_module(built.optimized, built.plan)->functions().size(), 3u); });
  ProfileReport report;
  timed("report", [&] { report = make_report(built, plan, a_microsecond_each(plan), {}); });
  EXPECT_EQ(report.kernels.size(), nodes - 1);
  std::string json;
  timed("report.json", [&] { json = to_json(report).dump(); });
  timed("report.json read", [&] { EXPECT_EQ(read_report(json, "a.json").kernels.size(), nodes - 1); });
  return steps;
}

TEST(LargePlan, JoinsTakeTimeInProportion) {
  seconds_by_step(200);  // what is made once
  const auto small = seconds_by_step(2000), large = seconds_by_step(20000);
  for (size_t i = 0; i < large.size(); ++i)
    // Ten times as many nodes: what goes through all of them for each takes a hundred times as long.
    EXPECT_LT(large[i].second, 35 * std::max(small[i].second, 0.002)) << large[i].first;
}

}  // namespace
}  // namespace baton
