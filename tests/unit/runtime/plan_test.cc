#include "baton/runtime/plan.h"

#include <gtest/gtest.h>

#include "runtime/plan_text.h"

namespace baton {
namespace {

PlanText small() {
  PlanText text;
  text.input("x", {"[2, 3]", 0});
  text.input("p0", {"[3]", 1});
  text.call("add", "add", "[0, 0, 0], [1, 0, 0]", {{"[2, 3]", 2}}, R"(, "hash": "1", "origins": "[4, 7]")");
  text.call("reshape_nop", "__nop", "[2, 0, 0]", {{"[6]", 2}}, R"(, "made_for": "[7]", "reason": "to fit")");
  text.call("split", "split", "[3, 0, 0]", {{"[6]", 3}, {"[6]", 4, "int8"}});
  text.call("__copy", "__copy", "[4, 1, 0]", {{"[6]", 5, "int8"}});
  return text;
}

const char* const kHeads = "[4, 0, 0], [5, 0, 0]";

std::string error_of(const std::string& text) {
  const auto plan = Plan::parse(text);
  return plan.ok() ? "" : plan.status().message;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Plan, ReadsWhatGraphJsonSays) {
  const auto parsed = Plan::parse(small().text(kHeads));
  ASSERT_TRUE(parsed.ok()) << parsed.status().message;
  const Plan& plan = **parsed;
  ASSERT_EQ(plan.nodes.size(), 6u);
  EXPECT_EQ(plan.arg_nodes, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(plan.nodes[2].kind, PlanNode::Kind::kKernel);
  EXPECT_EQ(plan.nodes[2].func_name, "add");
  EXPECT_EQ(plan.nodes[2].inputs, (std::vector<EntryId>{0, 1}));
  EXPECT_EQ(plan.nodes[2].origins, (std::vector<uint32_t>{4, 7}));
  EXPECT_EQ(plan.nodes[2].attr("hash"), "1");
  EXPECT_EQ(plan.nodes[2].attr("nothing"), "");
  EXPECT_EQ(plan.nodes[3].kind, PlanNode::Kind::kNop);
  EXPECT_EQ(plan.nodes[3].made_for, (std::vector<uint32_t>{7}));
  EXPECT_EQ(plan.nodes[3].reason, "to fit");
  EXPECT_EQ(plan.nodes[4].num_outputs, 2u);
  EXPECT_EQ(plan.nodes[5].kind, PlanNode::Kind::kCopy);
  EXPECT_EQ(plan.nodes[5].inputs, (std::vector<EntryId>{5}));
  EXPECT_EQ(plan.heads, (std::vector<EntryId>{4, 6}));
  EXPECT_EQ(plan.entries[5].dtype, DType::int_(8));
  EXPECT_EQ(plan.entries[0].shape, (Shape{2, 3}));
  ASSERT_EQ(plan.storages.size(), 6u);
  EXPECT_FALSE(plan.storages[1].written);
  EXPECT_TRUE(plan.storages[2].written);
  EXPECT_EQ(plan.storages[2].bytes, 24u);
  EXPECT_EQ(plan.workspace_bytes(), 24u + 24 + 6 + 6);
}

TEST(Plan, AStorageIsAsLargeAsItsLargestTensor) {
  PlanText text;
  text.input("x", {"[4]", 0});
  text.call("a", "a", "[0, 0, 0]", {{"[4]", 1}});
  text.call("b", "b", "[1, 0, 0]", {{"[100]", 2}});
  text.call("c", "c", "[2, 0, 0]", {{"[50]", 1}});
  const auto plan = Plan::parse(text.text("[3, 0, 0]"));
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ((*plan)->storages[1].bytes, 200u);
}

TEST(Plan, SaysWhatIsWrong) {
  const std::string good = small().text(kHeads);
  EXPECT_EQ(error_of(good), "");
  const std::string start = "the plan (graph.json) is damaged: ";
  EXPECT_EQ(error_of(""), start + "it is not JSON (0 bytes)");
  EXPECT_EQ(error_of("[1]"), start + "it is not a JSON object");
  EXPECT_EQ(error_of("{}"), start + "there is no list `nodes`");
  EXPECT_EQ(error_of(replaced(good, "tvm_op", "tvm_if")),
            start + "node 2 (`add`) is of unknown kind `tvm_if`");
  EXPECT_EQ(error_of(replaced(good, "[0, 0, 0], [1, 0, 0]", "[0, 0, 0], [9, 0, 0]")),
            start + "node 2 (`add`) has an input that no node before it computes: [9,0,0]");
  EXPECT_EQ(error_of(replaced(good, "\"num_outputs\": \"2\"", "\"num_outputs\": \"many\"")),
            start + "node 4 (`split`) has `num_outputs` = \"many\"");
  EXPECT_EQ(error_of(replaced(good, "\"[4, 7]\"", "\"[4, -7]\"")),
            start + "node 2 (`add`) has `origins` = \"[4, -7]\", which is no list of ids");
  EXPECT_EQ(error_of(replaced(good, "\"node_row_ptr\": [0, 1", "\"node_row_ptr\": [0, 2")),
            start + "`node_row_ptr` does not agree with the numbers of outputs at node 1");
  EXPECT_EQ(error_of(small().text("[6, 0, 0]")), start + "an output is computed by no node: [6,0,0]");
  EXPECT_EQ(error_of(small().text("[4, 2, 0]")), start + "an output is computed by no node: [4,2,0]");
  EXPECT_EQ(error_of(replaced(good, "\"arg_nodes\": [0, 1]", "\"arg_nodes\": [0]")),
            start + "node 1 (`p0`) is an input that `arg_nodes` does not list");
  EXPECT_EQ(error_of(replaced(good, "\"arg_nodes\": [0, 1]", "\"arg_nodes\": [0, 2]")),
            start + "`arg_nodes` lists something that is not an input, or lists it twice");
  EXPECT_EQ(error_of(replaced(good, "\"float32\"", "\"float\", \"int8\"")),
            start + "attribute `dltype` does not list one value for each of 7 tensors");
  EXPECT_EQ(error_of(replaced(good, "\"float32\"", "\"decimal\"")), start + "tensor 0 has an unknown type");
  EXPECT_EQ(error_of(replaced(good, "[[2, 3]", "[[2, -3]")),
            start + "tensor 0 has a shape that cannot be run");
  EXPECT_EQ(error_of(replaced(good, "[[2, 3]", "[[2000000000, 2000000000, 2000000000]")),
            start + "tensor 0 has a shape that cannot be run");
  EXPECT_EQ(error_of(replaced(good, "\"list_int\", [0, 1, 2", "\"list_int\", [0, 1, 99")),
            start + "tensor 2 has a storage id out of range");
  EXPECT_EQ(error_of(replaced(good, "\"list_int\", [0, 1, 2, 2", "\"list_int\", [0, 1, 2, 3")),
            start + "node 3 (`reshape_nop`) does nothing but has a storage of its own");
  EXPECT_EQ(error_of(replaced(good, "[6]", "[5]")),
            start + "node 3 (`reshape_nop`) changes the size of its data");
  EXPECT_EQ(error_of(replaced(good, "\"list_int\", [0, 1, 2, 2, 3", "\"list_int\", [0, 1, 2, 2, 1")),
            start + "node 1 (`p0`) is an input whose storage kernels overwrite");
}

TEST(Plan, EveryTruncationIsAnError) {
  const std::string good = small().text(kHeads);
  for (size_t length = 0; length < good.size(); ++length) {
    EXPECT_FALSE(Plan::parse(std::string_view(good).substr(0, length)).ok()) << length;
  }
}

TEST(Plan, NoValueOfTheWrongKindEndsTheProcess) {
  const std::string good = small().text(kHeads);
  for (const char* wrong :
       {"null", "\"x\"", "-1", "1e300", "[]", "{}", "[[]]", "18446744073709551615", "true"}) {
    for (size_t at = 0; at < good.size(); ++at) {
      if (good[at] != '"' && good[at] != '[' && good[at] != '{' && !isdigit(good[at])) continue;
      // Put the wrong value where one value, or a prefix of one, stands.
      size_t end = at + 1;
      if (good[at] == '"') end = good.find('"', end) + 1;
      if (good[at] == '[') end = good.find(']', end) + 1;
      if (good[at] == '{') end = good.find('}', end) + 1;
      (void)Plan::parse(good.substr(0, at) + wrong + good.substr(end));
    }
  }
}

TEST(Plan, DeepNestingIsNoProblem) {
  EXPECT_NE(error_of(std::string(1'000'000, '[')), "");
  EXPECT_NE(error_of("{\"nodes\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}"), "");
}

}  // namespace
}  // namespace baton
