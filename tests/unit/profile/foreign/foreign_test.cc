// Profiles of other engines: what is read of them, which nodes their steps compute, and what stands beside
// what.
#include <gmock/gmock.h>

#include "baton/frontend/onnx/source_nodes.h"
#include "baton/profile/foreign/by_node.h"
#include "baton/profile/foreign/engine_report.h"

#include "frontend/onnx/proto.h"

namespace baton {
namespace {

using onnx::proto::bytes;
using onnx::proto::node;
using onnx::proto::value;
using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

constexpr int kFloat = 1;

std::string named(const std::string& name) { return bytes(3, name); }

std::vector<onnx::SourceNode> nodes_of(const std::string& graph) {
  static std::string kept;
  kept = onnx::proto::model(graph);
  return onnx::source_nodes(*onnx::read_model_bytes(kept, "test.onnx", nullptr));
}

/// x -> c (Conv) -> b (BatchNormalization) -> r (Relu) -> a (Add of s) -> y; s follows from constants.
std::vector<onnx::SourceNode> chain() {
  return nodes_of(bytes(1, node("Conv", {"x", "w"}, {"tc"}, named("c"))) +
                  bytes(1, node("BatchNormalization", {"tc", "k", "k", "k", "k"}, {"tb"}, named("b"))) +
                  bytes(1, node("Relu", {"tb"}, {"tr"}, named("r"))) +
                  bytes(1, node("Neg", {"k"}, {"ts"}, named("s"))) +
                  bytes(1, node("Add", {"tr", "ts"}, {"y"}, named("a"))) +
                  bytes(5, onnx::proto::tensor("k", kFloat, {1}, onnx::proto::raw_data("\0\0\0\0"))) +
                  bytes(11, value("x", kFloat, {"1"})) + bytes(12, value("y", kFloat, {"1"})));
}
enum : uint32_t { kC, kB, kR, kS, kA };

EngineRow row(const std::string& name, double us, const std::string& op = "Op",
              std::vector<std::string> members = {}) {
  return {name, op, "", {us}, std::move(members), {}, {}};
}
std::vector<JoinedRow> joined(std::vector<EngineRow> rows) {
  return join({"engine", "1", 1, {}, std::move(rows)}, chain());
}

TEST(SourceNodes, HaveLabelsInputsAndConstants) {
  const std::vector<onnx::SourceNode> nodes = chain();
  EXPECT_THAT(nodes[kA].inputs, ElementsAre(kR, kS));
  EXPECT_TRUE(nodes[kS].is_constant);
  EXPECT_FALSE(nodes[kC].is_constant);  // `w` is no initializer here
  const auto unnamed =
      nodes_of(bytes(1, node("Relu", {"x"}, {"a"})) + bytes(1, node("Relu", {"a"}, {"b"}, named("r"))) +
               bytes(1, node("Relu", {"b"}, {"y"}, named("r"))));
  EXPECT_EQ(unnamed[0].label, "Relu_0");
  EXPECT_EQ(unnamed[1].label, "r");
  EXPECT_EQ(unnamed[2].label, "r#2");
}

TEST(SourceNodes, OfABranchAreBehindTheNodeAndFeedIt) {
  const std::string branch =
      bytes(1, node("Relu", {"t"}, {"u"}, named("inner"))) + bytes(12, value("u", kFloat, {}));
  const std::string attribute =
      bytes(5, bytes(1, "then_branch") + onnx::proto::integer(20, 5) + bytes(6, branch));
  const auto nodes = nodes_of(bytes(1, node("Neg", {"x"}, {"t"}, named("n"))) +
                              bytes(1, node("If", {"c"}, {"y"}, named("i") + attribute)));
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes[2].label, "i/then/inner");
  EXPECT_THAT(nodes[1].inputs, ElementsAre(0));  // the branch reads `t`
  EXPECT_THAT(nodes[2].inputs, ElementsAre(0));
}

TEST(SourceNodes, OfAFunctionStandForItsCall) {
  const std::string function = bytes(1, "F") + bytes(4, "p") + bytes(5, "q") +
                               bytes(7, node("Relu", {"p"}, {"m"}, named("in"))) +
                               bytes(7, node("Neg", {"m"}, {"q"})) + bytes(10, "local");
  const std::string graph = bytes(1, node("Abs", {"x"}, {"t"}, named("a"))) +
                            bytes(1, node("F", {"t"}, {"u"}, named("call") + bytes(7, "local"))) +
                            bytes(1, node("Exp", {"u"}, {"y"}, named("e")));
  static const std::string kept = onnx::proto::model(graph) + bytes(25, function);
  const auto nodes = onnx::source_nodes(*onnx::read_model_bytes(kept, "test.onnx", nullptr));
  ASSERT_EQ(nodes.size(), 5u);
  EXPECT_TRUE(nodes[1].is_call);
  EXPECT_EQ(nodes[2].label, "call/in");
  EXPECT_EQ(nodes[3].label, "call/Neg_1");
  EXPECT_THAT(nodes[2].inputs, ElementsAre(0));
  EXPECT_THAT(nodes[4].inputs, ElementsAre(3));
  // The engine takes the function apart, and names a step after the tensor that the call makes.
  const auto rows = join({"engine", "1", 1, {}, {row("a", 1), row("u_nchwc", 1), row("e", 1)}}, nodes);
  EXPECT_THAT(rows[1].nodes, ElementsAre(2, 3));
}

TEST(Join, WhatIsNotNamedBelongsToTheStepThatReadsIt) {
  const auto rows = joined({row("r", 1), row("a", 1)});
  EXPECT_THAT(rows[0].nodes, ElementsAre(kC, kB, kR));
  EXPECT_THAT(rows[1].nodes, ElementsAre(kA));  // not the constant `s`
}

TEST(Join, NamesThatAnEngineMakesUp) {
  EXPECT_THAT(joined({row("tb_nchwc", 1)})[0].nodes, ElementsAre(kC, kB));
  EXPECT_THAT(joined({row("r/QuickGeluFusion/", 1)})[0].nodes, ElementsAre(kC, kB, kR));
  EXPECT_THAT(joined({row("a@0/MatMulAddFusion", 1)})[0].nodes, ElementsAre(kC, kB, kR, kA));
  EXPECT_THAT(joined({row("r_token_12", 1)})[0].nodes, ElementsAre(kC, kB, kR));
  EXPECT_THAT(joined({row("i_then_branch__Inline_0__r", 1)})[0].nodes, ElementsAre(kC, kB, kR));
  EXPECT_THAT(joined({row("LayerNormalization_token_3", 1)})[0].nodes, IsEmpty());
}

TEST(Join, MembersMayHaveCommasInTheirNames) {
  const auto nodes = nodes_of(bytes(1, node("Relu", {"x"}, {"t"}, named("a,b"))) +
                              bytes(1, node("Relu", {"t"}, {"y"}, named("b"))) +
                              bytes(1, node("Relu", {"y"}, {"z"}, named("c"))));
  const auto rows = join({"openvino", "1", 1, {}, {row("step", 1, "Relu", {"unknown,a,b,c"})}}, nodes);
  EXPECT_THAT(rows[0].nodes, ElementsAre(0, 1, 2));  // `b` lies between
}

TEST(Join, ChangesOfLayoutAreMadeForAStep) {
  const auto rows = joined({row("Conv_1", 1, "Convolution", {"tc"}), row("x_abcd_acdb_Conv_1", 1, "Reorder"),
                            row("r", 1), row("r_acdb_abcd_a", 1, "Reorder"), row("a", 1)});
  EXPECT_THAT(rows[1].nodes, IsEmpty());
  EXPECT_THAT(rows[1].made_for, ElementsAre(kC));
  EXPECT_THAT(rows[3].made_for, ElementsAre(kA));
  EXPECT_THAT(rows[2].nodes, ElementsAre(kB, kR));
}

TEST(Join, AReorderedTensorIsOfTheStepThatComputedIt) {
  EngineRow conv = row("tc_nchwc", 1, "Conv"), reorder = row("ReorderOutput_token_1", 1, "ReorderOutput");
  conv.outputs = {"reorder_token_0"};
  reorder.inputs = {"reorder_token_0"}, reorder.outputs = {"tc"};
  const auto rows = joined({reorder, conv, row("a", 1)});
  EXPECT_THAT(rows[0].nodes, IsEmpty());
  EXPECT_THAT(rows[0].made_for, ElementsAre(kC));
  EXPECT_THAT(rows[1].nodes, ElementsAre(kC));
}

// ---- What is read.

std::string event(const std::string& cat, const std::string& name, int ts, int dur, int tid = 1) {
  return R"({"cat":")" + cat + R"(","pid":1,"tid":)" + std::to_string(tid) + R"(,"dur":)" +
         std::to_string(dur) + R"(,"ts":)" + std::to_string(ts) + R"(,"ph":"X","name":")" + name +
         R"(","args":{"op_name":"Relu","provider":"CPU"}})";
}

TEST(EngineProfile, EventsOfLoopsCountOnceAndTheFirstRunDoesNot) {
  const std::string text =
      "[" + event("Session", "model_run", 0, 1000) + "," + event("Node", "r_kernel_time", 10, 900) + "," +
      event("Session", "model_run", 2000, 100) + "," + event("Node", "loop_kernel_time", 2010, 50) + "," +
      event("Node", "r_kernel_time", 2015, 10) + "," + event("Node", "r_kernel_time", 2030, 12) + "]";
  ASSERT_TRUE(is_engine_profile(text));
  const EngineProfile profile = read_engine_profile(text, "p.json");
  EXPECT_THAT(profile.runs_us, ElementsAre(100));
  ASSERT_EQ(profile.rows.size(), 2u);
  EXPECT_EQ(profile.rows[1].name, "r");
  EXPECT_THAT(profile.rows[1].samples_us, ElementsAre(22));
  EXPECT_THAT(profile.rows[0].samples_us, ElementsAre(28));  // 50 without what runs inside
}

TEST(EngineProfile, CountersOfOpenVino) {
  const std::string csv =
      "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms)\n"
      "r;EXECUTED;Relu;jit_f32;0.25;0.25\nk;NOT_RUN;Const;;0;0\nTotal;;;;0.25;0.25\n";
  const EngineProfile of_csv = read_engine_profile(csv, "p.csv");
  ASSERT_EQ(of_csv.rows.size(), 1u);
  EXPECT_THAT(of_csv.rows[0].samples_us, ElementsAre(250));
  EXPECT_EQ(of_csv.rows[0].implementation, "jit_f32");
  const std::string json = R"({"report_type":"detailed","detailed_performance":[{"nodes":[
      {"name":"r","node_type":"Relu","exec_type":"jit","status":"EXECUTED","real_time":0.5,"cpu_time":0.5}]}]})";
  ASSERT_TRUE(is_engine_profile(json));
  EXPECT_THAT(read_engine_profile(json, "p.json").rows.at(0).samples_us, ElementsAre(500));
}

TEST(EngineProfile, WhatIsNoneIsRefused) {
  EXPECT_THAT([] { read_engine_profile("[]", "p.json"); },
              ThrowsMessage<Error>(HasSubstr("no step that took time")));
  EXPECT_THAT([] { read_engine_profile("{}", "p.json"); },
              ThrowsMessage<Error>(HasSubstr("no profile that is known")));
  EXPECT_THAT([] { read_engine_profile("[1", "p.json"); }, ThrowsMessage<Error>(HasSubstr("p.json")));
  EXPECT_THAT([] { read_engine_profile(R"([{"cat":"Node","name":"r_kernel_time","dur":"x"}])", "p.json"); },
              ThrowsMessage<Error>(HasSubstr("p.json")));
  EXPECT_THAT([] { read_engine_profile("layerName;execStatus\n", "p.csv"); },
              ThrowsMessage<Error>(HasSubstr("no column layerType")));
  EXPECT_THAT(
      [] { read_engine_profile("layerName;execStatus;layerType;execType;realTime\nr;;;;fast\n", "p.csv"); },
      ThrowsMessage<Error>(HasSubstr("line 2: `fast` is no time")));
  EXPECT_FALSE(is_engine_profile(R"({"schema": 12, "model": "engine"})"));
}

// ---- As a report, and beside each other.

TEST(EngineReport, AccountsForEveryNodeAndAddsUp) {
  const EngineProfile profile{
      "onnxruntime", "1", 1, {12}, {row("r", 6), row("ReorderInput", 2, "ReorderInput"), row("a", 3)}};
  const ProfileReport report = engine_report(profile, chain(), "m.onnx");
  EXPECT_THAT(report.sum_us, DoubleEq(11));
  EXPECT_THAT(report.end_to_end_us, DoubleEq(12));
  ASSERT_EQ(report.operators.size(), 5u);
  for (const OperatorRow& each : report.operators)
    EXPECT_NE(each.nodes.empty(), each.retired_why.empty()) << each.source;
  EXPECT_THAT(report.operators[kS].retired_why, HasSubstr("constants"));
  EXPECT_THAT(report.operators[kC].fused_with, ElementsAre(kB, kR));
  EXPECT_THAT(report.kernels[2].inputs, ElementsAre(0));
  EXPECT_THAT(report.notes.front(), HasSubstr("1 of 3 steps could not be joined"));
}

TEST(EngineReport, NodesHaveTheirModulesAndLines) {
  const std::string trace = bytes(
      9, bytes(1, "pkg.torch.onnx.stack_trace") + bytes(2, "File \"net.py\", line 7, in forward\n  f(x)"));
  const auto nodes = nodes_of(bytes(1, node("Relu", {"x"}, {"a"}, named("/act/Relu") + trace)) +
                              bytes(1, node("Exp", {"a"}, {"y"}, named("/head/out/Exp"))));
  const ProfileReport report =
      engine_report({"engine", "1", 1, {}, {row("/act/Relu", 6), row("/head/out/Exp", 3)}}, nodes, "m.onnx");
  EXPECT_EQ(report.operators[0].module, "act");
  EXPECT_EQ(report.operators[1].module, "head/out");
  EXPECT_EQ(report.operators[0].source_line, (SourceLine{"net.py", 7, "forward", "f(x)"}));
}

TEST(ByNode, RowsAreTheSmallestSetsThatAllEnginesTellApart) {
  ProfileReport ours;
  const std::vector<onnx::SourceNode> nodes = chain();
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    OperatorRow one;
    one.id = i, one.source = nodes[i].label;
    ours.operators.push_back(one);
  }
  KernelRow split, own;
  split.origins = {kB, kR}, split.median_us = 10;
  split.inside = {{{kB}, "", false, "", 0.4, 4}, {{kR}, "", false, "", 0.4, 4}};
  own.origins = {kC}, own.median_us = 5;
  KernelRow whole = own, layout;
  whole.origins = {kA}, whole.median_us = 2;
  layout.made_for = {kA}, layout.median_us = 1, layout.reason = "layout";
  ours.kernels = {own, split, whole, layout};
  ours.sum_us = 18, ours.end_to_end_us = 19;
  const EngineProfile other{
      "ort", "1", 1, {9}, {row("tb_nchwc", 6), row("r", 1), row("a", 1), row("Unknown", 0.5)}};
  const ByNode result = by_node(nodes, ours, {other});
  ASSERT_EQ(result.rows.size(), 3u);  // c with b, as the other has them; r; a
  const auto find = [&](uint32_t node) {
    for (const NodesRow& each : result.rows)
      if (std::ranges::find(each.nodes, node) != each.nodes.end()) return each;
    return NodesRow();
  };
  EXPECT_THAT(find(kC).nodes, ElementsAre(kC, kB));
  EXPECT_THAT(find(kC).us, ElementsAre(DoubleEq(10), 6));
  EXPECT_THAT(find(kR).us, ElementsAre(DoubleEq(5), 1));
  EXPECT_THAT(find(kA).us, ElementsAre(DoubleEq(3), 1));
  EXPECT_THAT(result.engines[0].joined_us, DoubleEq(18));
  EXPECT_THAT(result.engines[1].joined_us, DoubleEq(8));
  ASSERT_EQ(result.engines[1].unjoined.size(), 1u);
  EXPECT_EQ(result.engines[1].unjoined[0].name, "Unknown");
  EXPECT_THAT(result.table(), HasSubstr("c .. b: Conv, BatchNormalization"));
  EXPECT_THAT(result.json()["rows"].size(), 3u);
}

}  // namespace
}  // namespace baton
