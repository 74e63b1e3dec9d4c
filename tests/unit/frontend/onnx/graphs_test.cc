// Graphs within graphs and functions of ONNX files: names of operators, reasons of what is not there, and
// what is refused.
#include <gmock/gmock.h>

#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/frontend/onnx/import.h"
#include "baton/support/error.h"
#include "baton/transform/freeze_shapes.h"

#include "frontend/onnx/origins_of.h"
#include "frontend/onnx/proto.h"

namespace baton::onnx {
namespace {

using proto::bytes;
using proto::integer;
using proto::node;
using proto::value;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::ThrowsMessage;

class OnnxGraphs : public ::testing::Test {
 protected:
  static constexpr int kFloat = 1, kInt64 = 7, kBool = 9;
  static void SetUpTestSuite() { initialize(); }

  static IRModule import(const std::string& graph, const std::string& more = {},
                         std::vector<GivenShape> shapes = {}) {
    return import_bytes(proto::model(graph) + more, "test.onnx", {std::move(shapes)}, host_context()).module;
  }
  static std::string in(const std::string& name, int element = kFloat,
                        const std::vector<std::string>& dims = {"2"}) {
    return bytes(11, value(name, element, dims));
  }
  static std::string out(const std::string& name) { return bytes(12, value(name, kFloat, {})); }
  static std::string named(const std::string& name) { return bytes(3, name); }
  static std::string graph_of(const std::string& name, const std::string& graph) {
    return bytes(5, bytes(1, name) + bytes(6, graph) + integer(20, 5));
  }
  static std::string branches(const std::string& then, const std::string& otherwise) {
    return graph_of("then_branch", then) + graph_of("else_branch", otherwise);
  }
  static std::string nodes(const std::string& made) { return bytes(1, made); }
  static std::string truth(const std::string& name, bool is_true) {
    return bytes(5, proto::tensor(name, kBool, {}, proto::raw_data(std::string(1, is_true ? 1 : 0))));
  }
  static std::string relu(const std::string& from, const std::string& to) {
    return nodes(node("Relu", {from}, {to})) + out(to);
  }
  static void refused(const std::string& graph, const char* why, const std::string& more = {}) {
    EXPECT_THAT([&] { import(graph, more); }, ThrowsMessage<Error>(HasSubstr(why))) << why;
  }
  /// A function of the domain "my" with one node.
  static std::string function(const std::string& name, const std::string& made) {
    return bytes(25, bytes(1, name) + bytes(4, "a") + bytes(5, "b") + bytes(7, made) +
                         bytes(9, integer(2, 17)) + bytes(10, "my"));
  }
  static std::string call(const std::string& name, const std::string& from, const std::string& to,
                          const std::string& more = {}) {
    return node(name, {from}, {to}, bytes(7, "my") + more);
  }
};

constexpr const char* kNotTaken = "a branch that is not taken: the condition of If is constant";
constexpr const char* kDecided = "its condition is constant: the branch that is taken stands for it";

TEST_F(OnnxGraphs, TheBranchThatIsNotTakenIsRetiredWithTheReason) {
  const std::string inner =
      nodes(node("If", {"c"}, {"z"}, branches(relu("x", "p"), relu("x", "q")))) + out("z");
  const IRModule module =
      import(nodes(node("If", {"c"}, {"y"}, branches(relu("x", "a"), inner) + named("choice"))) +
             truth("c", true) + in("x") + out("y"));
  EXPECT_THAT(nodes_of(module),
              ElementsAre(Pair("choice", kDecided), Pair("choice/else/If_0", kNotTaken),
                          Pair("choice/else/If_0/then/Relu_0", kNotTaken),
                          Pair("choice/else/If_0/else/Relu_0", kNotTaken), Pair("choice/then/Relu_0", "")));
}

TEST_F(OnnxGraphs, BothBranchesOfAConditionAtRunTimeAreThere) {
  const IRModule module = import(nodes(node("If", {"c"}, {"y"}, branches(relu("x", "a"), relu("x", "a")))) +
                                 in("c", kBool, {}) + in("x") + out("y"));
  EXPECT_THAT(nodes_of(module),
              ElementsAre(Pair("If_0", ""), Pair("If_0/then/Relu_0", ""), Pair("If_0/else/Relu_0", "")));
}

TEST_F(OnnxGraphs, TheTurnsOfALoopAreOneOperator) {
  const std::string body = bytes(11, value("i", kInt64, {})) + bytes(11, value("go", kBool, {})) + in("v") +
                           nodes(node("Relu", {"v"}, {"w"})) + out("go") + out("w");
  const IRModule module =
      import(bytes(5, proto::tensor("m", kInt64, {}, proto::raw_data(proto::raw<int64_t>({3})))) +
             nodes(node("Loop", {"m", "", "x"}, {"y"}, graph_of("body", body))) + in("x") + out("y"));
  EXPECT_THAT(
      nodes_of(module),
      ElementsAre(Pair("Loop_0", "a loop whose turns are decided while importing: its nodes stand for it"),
                  Pair("Loop_0/body/Relu_0", "")));
}

TEST_F(OnnxGraphs, NodesOfFunctionsAreNamedByTheirCall) {
  const IRModule module = import(
      nodes(call("F", "x", "p", named("first"))) + nodes(call("F", "p", "q")) + nodes(call("G", "q", "y")) +
          in("x") + out("y"),
      function("F", node("Relu", {"a"}, {"b"}, named("r"))) + function("G", call("F", "a", "b", named("f"))));
  const char* kCall = "a call of a function of the model, whose nodes stand for it";
  EXPECT_THAT(nodes_of(module),
              ElementsAre(Pair("first", kCall), Pair("first/r", ""), Pair("F_1", kCall), Pair("F_1/r", ""),
                          Pair("G_2", kCall), Pair("G_2/f", kCall), Pair("G_2/f/r", "")));
}

TEST_F(OnnxGraphs, ANameThatLooksLikeThatOfADuplicateStaysItsOwn) {
  const IRModule module =
      import(nodes(node("Relu", {"x"}, {"a"}, named("r"))) + nodes(node("Neg", {"a"}, {"b"}, named("r#2"))) +
             nodes(node("Relu", {"b"}, {"c"}, named("r"))) + in("x") + out("c"));
  EXPECT_THAT(nodes_of(module), ElementsAre(Pair("r", ""), Pair("r#2", ""), Pair("r#2#2", "")));
}

TEST_F(OnnxGraphs, FunctionsThatDoNotEndAreRefused) {
  const std::string graph = nodes(call("F", "x", "y", named("c"))) + in("x") + out("y");
  refused(graph, "the function `F` calls itself", function("F", call("F", "a", "b")));
  refused(graph, "calls itself", function("F", call("G", "a", "b")) + function("G", call("F", "a", "b")));
  std::string chain;
  for (int i = 0; i < 200; ++i)
    chain += function(i ? "F" + std::to_string(i) : "F", call("F" + std::to_string(i + 1), "a", "b"));
  refused(graph, "functions call each other more than 64 deep", chain);
  refused(nodes(node("F", {"x", "x"}, {"y"}, bytes(7, "my"))) + in("x") + out("y"),
          "it has 2 inputs, and the function `F` takes 1", function("F", node("Relu", {"a"}, {"b"})));
}

TEST_F(OnnxGraphs, FilesOfMoreNodesThanTheirFunctionsSayAreRefused) {
  // 2^30 nodes: each function calls the one before twice.
  std::string functions = function("F0", node("Relu", {"a"}, {"b"}));
  for (int i = 1; i <= 30; ++i) {
    const std::string before = "F" + std::to_string(i - 1);
    functions += bytes(25, bytes(1, "F" + std::to_string(i)) + bytes(4, "a") + bytes(5, "b") +
                               bytes(7, call(before, "a", "c")) + bytes(7, call(before, "c", "b")) +
                               bytes(9, integer(2, 17)) + bytes(10, "my"));
  }
  refused(nodes(call("F30", "x", "y")) + in("x") + out("y"), "nodes", functions);
}

TEST_F(OnnxGraphs, GraphsThatContradictThemselvesAreRefused) {
  const std::string x = in("x");
  const std::string c = in("c", kBool, {});
  refused(
      nodes(node("Add", {"x", "b"}, {"a"}, named("first"))) + nodes(node("Neg", {"a"}, {"b"})) + x + out("b"),
      "Add `first`: nothing before it makes its input `b`");
  refused(nodes(node("If", {"c"}, {"y"}, graph_of("then_branch", relu("x", "a")))) + c + x + out("y"),
          "If that makes `y`: the graph `else_branch` is missing");
  refused(nodes(node("If", {"c"}, {"y"},
                     branches(relu("x", "a"), nodes(node("Neg", {"w"}, {"b"})) + out("b")) + named("i"))) +
              c + x + out("y"),
          "Neg `i/else/Neg_0`: nothing before it makes its input `w`");
  refused(nodes(node("If", {"c"}, {"y"}, branches(relu("x", "a"), relu("x", "a") + out("x")) + named("i"))) +
              c + x + out("y"),
          "If `i`: its branches make another number of values");
  refused(
      nodes(node("Loop", {"", "", "x"}, {"y"}, graph_of("body", relu("x", "a")) + named("l"))) + x + out("y"),
      "Loop `l`: it carries 1 values, and its body makes 1");
  refused(nodes(node("Scan", {"x"}, {"y"}, graph_of("body", relu("x", "a")) + named("s"))) + x + out("y"),
          "Scan `s`: attribute `num_scan_inputs` is missing");
  refused(nodes(node("Relu", {"x"}, {"y"})) + truth("t", true) + truth("t", true) + x + out("y"),
          "there are two initializers `t`");
  refused(nodes(node("SequenceLength", {"x"}, {"y"}, named("l"))) + x + out("y"),
          "SequenceLength `l`: input 0 is no sequence");
}

TEST_F(OnnxGraphs, FilesThatWereMadeForOneMachineAreRefused) {
  refused(
      nodes(node("Conv", {"x"}, {"y"}, bytes(7, "com.microsoft.nchwc") + named("c"))) + in("x") + out("y"),
      "ONNX Runtime optimised it for one machine; export it again");
}

TEST_F(OnnxGraphs, ConstantsThatDoNotFitIntoMemoryAreRefused) {
  const std::string shape =
      bytes(5, proto::tensor("s", kInt64, {2}, proto::raw_data(proto::raw<int64_t>({1 << 20, 1 << 20}))));
  refused(shape + nodes(node("ConstantOfShape", {"s"}, {"w"}, named("fill"))) +
              nodes(node("Neg", {"w"}, {"y"})) + out("y"),
          "ConstantOfShape `fill`: constants of more than 2 GB");
}

TEST_F(OnnxGraphs, AShapeIsGivenOnce) {
  const std::string graph = nodes(node("Relu", {"x"}, {"y"})) + in("x", kFloat, {"n"}) + out("y");
  EXPECT_THAT([&] { import(graph, {}, {{"n", {2}}, {"n", {3}}}); },
              ThrowsMessage<UsageError>(HasSubstr("--shape gives `n` two values")));
  const GivenShape odd = parse_given_shape("a=b:0,c=1x3,4");
  EXPECT_EQ(odd.name, "a=b:0,c");
  EXPECT_THAT(odd.values, ElementsAre(1, 3, 4));
}

}  // namespace
}  // namespace baton::onnx
