// ONNX files as modules: names, shapes, origins, and what is refused.
#include "baton/frontend/onnx/import.h"

#include <regex>

#include <gmock/gmock.h>

#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/frontend/onnx/operators.h"
#include "baton/frontend/onnx/tensor_data.h"
#include "baton/ir/visit.h"
#include "baton/support/base/files.h"
#include "baton/support/error.h"
#include "baton/text/printer.h"

#include "frontend/onnx/origins_of.h"
#include "frontend/onnx/proto.h"
#include "test_paths.h"

namespace baton::onnx {
namespace {

using proto::bytes;
using proto::node;
using proto::value;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

constexpr int kFloat = 1, kInt64 = 7;

class OnnxImport : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { initialize(); }

  static IRModule import(const std::string& graph, std::vector<GivenShape> shapes = {}, int opset = 17) {
    return import_bytes(proto::model(graph, opset), "test.onnx", {std::move(shapes)}, host_context()).module;
  }
  static std::string text(const IRModule& module) {
    PrintOptions options;
    options.spans = false;
    return print(*module, options);
  }
  static std::string input(const std::string& name, int element, const std::vector<std::string>& dims) {
    return bytes(11, value(name, element, dims));
  }
  static std::string output(const std::string& name) { return bytes(12, value(name, kFloat, {})); }
  static std::string integers(const std::string& name, const std::vector<int64_t>& values) {
    return bytes(5, proto::tensor(name, kInt64, {static_cast<int64_t>(values.size())},
                                  proto::raw_data(proto::raw(values))));
  }
  static std::string named(const std::string& name) { return bytes(3, name); }
};

TEST_F(OnnxImport, NodesAreOperatorsUnderTheirOwnNames) {
  const IRModule module = import(bytes(1, node("Relu", {"x"}, {"a"}, named("/layer1/0/act"))) +
                                 bytes(1, node("Add", {"a", "x"}, {"b"})) +
                                 bytes(1, node("Relu", {"b"}, {"c"}, named("/layer1/0/act"))) +
                                 input("x", kFloat, {"2", "3"}) + output("c"));
  EXPECT_THAT(nodes_of(module), ElementsAre(std::pair("/layer1/0/act", ""), std::pair("Add_1", ""),
                                            std::pair("/layer1/0/act#2", "")));
  EXPECT_THAT(text(module), HasSubstr("Tensor[(2, 3), float32]"));
  const BuildResult built = plan_build(module, {.context = host_context()});
  ASSERT_EQ(built.origins->operators.size(), 3u);
}

TEST_F(OnnxImport, ShapeArithmeticIsComputedWhileImporting) {
  const std::string graph =
      bytes(1, node("Shape", {"x"}, {"s"})) + integers("zero", {0}) +
      bytes(1, node("Gather", {"s", "zero"}, {"n"})) + integers("rest", {-1}) +
      bytes(1, node("Concat", {"n", "rest"}, {"to"},
                    bytes(5, bytes(1, "axis") + proto::integer(3, 0) + proto::integer(20, 2)))) +
      bytes(1, node("Reshape", {"x", "to"}, {"y"})) + input("x", kFloat, {"batch", "3", "4"}) + output("y");
  const IRModule module = import(graph);
  const std::string program = text(module);
  EXPECT_THAT(program, Not(HasSubstr("shape_of")));
  EXPECT_THAT(program, HasSubstr("reshape(%x, newshape=[0, -1])"));
  EXPECT_THAT(program, HasSubstr("-> Tensor[(meta[tir.SizeVar][0], 12), float32]"));
  const auto nodes = nodes_of(module);
  ASSERT_EQ(nodes.size(), 4u);
  EXPECT_EQ(nodes[0].second, "shape arithmetic, computed while importing");
  EXPECT_EQ(nodes[3].second, "");
  EXPECT_THAT(text(import(graph, {{"batch", {5}}})), HasSubstr("Tensor[(5, 12), float32]"));
  EXPECT_THAT(text(import(graph, {{"x", {5, 3, 4}}})), HasSubstr("Tensor[(5, 12), float32]"));
}

TEST_F(OnnxImport, WhatFollowsFromConstantsIsFolded) {
  const IRModule module =
      import(bytes(5, proto::tensor("a", kFloat, {2}, proto::raw_data(proto::raw<float>({1, 2})))) +
             bytes(1, node("Exp", {"a"}, {"e"})) + bytes(1, node("Mul", {"x", "e"}, {"y"})) +
             input("x", kFloat, {"2"}) + output("y"));
  EXPECT_THAT(text(module), Not(HasSubstr("exp(")));
  EXPECT_THAT(nodes_of(module), ElementsAre(std::pair("Exp_0", ""), std::pair("Mul_1", "")));
}

TEST_F(OnnxImport, WeightsInMemoryCanBeReadTwice) {
  const std::vector<float> values(1 << 18, 3);
  const std::string bytes = proto::model(
      proto::bytes(5, proto::tensor("w", kFloat, {1 << 18}, proto::raw_data(proto::raw(values)))));
  const auto file = read_model_bytes(bytes, "test.onnx", nullptr);
  TensorReader reader(file);
  for (int i = 0; i < 2; ++i) {
    const NDArray read = reader.read(file->graph.initializers[0]);
    EXPECT_EQ(std::ranges::count(read.as<float>(), 3.0F), 1 << 18);
  }
}

TEST_F(OnnxImport, NumbersOfRulesAreRightInAllFloats) {
  for (const auto& [type, one] :
       {std::pair(DType::make(DType::Code::kBFloat, 16), 0x3f80), std::pair(DType::float_(16), 0x3c00)})
    EXPECT_EQ(scalar(1, type)->value().as<uint16_t>()[0], one) << type.str();
}

TEST_F(OnnxImport, NodesWithoutAnEffectAreRetiredWithTheReason) {
  const IRModule module =
      import(bytes(1, node("Identity", {"x"}, {"a"})) + bytes(1, node("Relu", {"a"}, {"b"})) +
             bytes(1, node("Neg", {"x"}, {"unused"})) + input("x", kFloat, {"2"}) + output("b"));
  EXPECT_THAT(nodes_of(module), ElementsAre(std::pair("Identity_0", "the identity"), std::pair("Relu_1", ""),
                                            std::pair("Neg_2", "nothing that is computed reads its result")));
}

TEST_F(OnnxImport, AllOperatorsWithoutARuleAreNamedAtOnce) {
  const std::string graph =
      bytes(1, node("Nothing", {"x"}, {"a"}, named("n1"))) + bytes(1, node("Relu", {"a"}, {"b"})) +
      bytes(1, node("Nothing", {"b"}, {"c"}, named("n2"))) +
      bytes(1, node("Other", {"c"}, {"d"}, bytes(7, "my.domain"))) + input("x", kFloat, {"2"}) + output("d");
  EXPECT_THAT([&] { import(graph); }, ThrowsMessage<NotSupported>(::testing::AllOf(
                                          HasSubstr("test.onnx: there is no rule for 2 operators:"),
                                          HasSubstr("ai.onnx.Nothing (version 17): 2 nodes (n1, n2)"),
                                          HasSubstr("my.domain.Other: 1 node (Other_3)"))));
  EXPECT_THAT([&] { import(graph, {}, 29); }, ThrowsMessage<NotSupported>(HasSubstr("version 29")));
}

TEST_F(OnnxImport, FilesThatContradictThemselvesAreRefused) {
  const auto refused = [&](const std::string& graph, const char* why, std::vector<GivenShape> shapes = {}) {
    EXPECT_THAT([&] { import(graph, shapes); }, ThrowsMessage<Error>(HasSubstr(why))) << why;
  };
  const std::string x = input("x", kFloat, {"n", "3"});
  refused(bytes(1, node("Relu", {"z"}, {"y"}, named("r"))) + x + output("y"),
          "test.onnx: Relu `r`: nothing before it makes its input `z`");
  refused(bytes(1, node("Relu", {"x"}, {"y"})) + x + output("w"), "nothing makes the output `w`");
  refused(bytes(1, node("Relu", {"x"}, {"y"})) + bytes(1, node("Neg", {"x"}, {"y"}, named("again"))) + x +
              output("y"),
          "Neg `again`: its output `y` was made before");
  refused(bytes(1, node("Relu", {"x"}, {"y"})) + x + x + output("y"), "the input `x` is there twice");
  refused(bytes(1, node("Relu", {"x"}, {"y"})) + x, "its graph has no outputs");
  refused(bytes(1, node("Relu", {"x"}, {"y"})) + input("x", 8, {"1"}) + output("y"), "`x` is of type string");
  const std::string fine = bytes(1, node("Relu", {"x"}, {"y"})) + x + output("y");
  refused(fine, "has 2 dimensions, and --shape gives 3", {{"x", {1, 2, 3}}});
  refused(fine, "has 3 along axis 1, and --shape gives 4", {{"x", {1, 4}}});
  refused(fine, "has no input or dimension of that name; its inputs are x", {{"z", {1}}});
  refused(
      bytes(1, node("Add", {"x", "w"}, {"y"}, named("a"))) + x + input("w", kFloat, {"n", "4"}) + output("y"),
      "test.onnx: Add `a`: error[E0214]: cannot broadcast Tensor[(n, 3), float32] with");
}

TEST_F(OnnxImport, WhatIsGivenOfOneInputHoldsForAllWithItsSymbol) {
  const std::string graph = bytes(1, node("Add", {"x", "w"}, {"y"})) + input("x", kFloat, {"n", ""}) +
                            input("w", kFloat, {"n", "x_1"}) + output("y");
  const std::string program = text(import(graph, {{"w", {5, 4}}, {"x_1", {4}}}));
  EXPECT_THAT(program, HasSubstr("%x: Tensor[(5, 4), float32]"));
  EXPECT_THAT([&] { import(graph, {{"w", {5, 4}}, {"x", {6, 4}}}); },
              ThrowsMessage<Error>(HasSubstr("`n`, which is")));
  // A dimension without a name is another one than "x_1", which it is called.
  const std::string apart = bytes(1, node("Relu", {"x"}, {"y"})) + bytes(1, node("Relu", {"w"}, {"v"})) +
                            input("x", kFloat, {"n", ""}) + input("w", kFloat, {"n", "x_1"}) + output("y") +
                            output("v");
  EXPECT_THAT(text(import(apart)), HasSubstr("meta[tir.SizeVar][2]"));
}

TEST_F(OnnxImport, EveryRuleSaysItsVersionsAndStandsInTheDocumentation) {
  const Result<std::string> text = read_file(std::string(source_dir()) + "/docs/compatibility.md");
  ASSERT_TRUE(text.ok());
  const std::string section =
      text->substr(text->find("## ONNX"), text->find("## Text") - text->find("## ONNX"));
  for (const Operator* each : all_operators()) {
    EXPECT_TRUE(std::regex_search(section, std::regex("\\b" + std::string(each->name) + "\\b")))
        << each->name;
    ASSERT_FALSE(each->versions.empty()) << each->name;
    EXPECT_TRUE(std::ranges::is_sorted(each->versions)) << each->name;
    EXPECT_LE(each->versions.back(), kNewestOpset) << each->name;
  }
}

}  // namespace
}  // namespace baton::onnx
