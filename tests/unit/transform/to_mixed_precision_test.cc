#include <gtest/gtest.h>

#include "baton/codegen/backend.h"
#include "baton/driver/initialize.h"
#include "baton/ir/op.h"
#include "baton/ir/rules/mixed_precision_rule.h"
#include "baton/pass/origin_verifier.h"
#include "baton/pass/pass.h"
#include "baton/support/log.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

namespace baton {
namespace {

class MixedPrecisionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    initialize();
    old_sink_ = set_log_sink([this](const std::string& line) { log_ += line + "\n"; });
  }
  void TearDown() override { set_log_sink(old_sink_); }

  IRModule convert(const std::string& text, const PassArgs& args = {}, bool keep = false) {
    auto context = std::make_shared<PassContext>();
    context->instruments = {std::make_shared<OriginVerifier>()};
    if (keep) context->config.set("relay.ToMixedPrecision.keep_orig_output_dtype", true);
    const BuildContext under = host_context().with_passes(context);
    const InstrumentScope scope(under.passes);
    const IRModule result =
        (*make_pass("ToMixedPrecision", args))(parse_module("#[version = \"0.0.5\"]\n" + text), under);
    EXPECT_TRUE(types_are_right(*result));
    return result;
  }
  static std::string result_type(const IRModule& module, const std::string& name = "main") {
    return type_text(module->find(name)->ret_type());
  }

  LogSink old_sink_;
  std::string log_;
};

const char* kDense =
    "def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) -> Tensor[(2, 4), float32] { "
    "nn.dense(%x, %w, units=None) }";

TEST_F(MixedPrecisionTest, TheResultMayKeepItsType) {
  EXPECT_EQ(result_type(convert(kDense)), "Tensor[(2, 4), float16]");
  EXPECT_EQ(result_type(convert(kDense, {}, true)), "Tensor[(2, 4), float32]");
  EXPECT_EQ(result_type(convert("def @main(%x: Tensor[(3), float32]) { let %a = tanh(%x); (%a, exp(%a), 1) }",
                                {}, true)),
            "(Tensor[(3), float32], Tensor[(3), float32], int32)");
}

// Whoever calls it relies on the type.
TEST_F(MixedPrecisionTest, FunctionsThatAreCalledKeepTheirTypes) {
  const IRModule module = convert(
      "def @f(%x: Tensor[(3), float32]) -> Tensor[(3), float32] { tanh(%x) }\n"
      "def @main(%x: Tensor[(3), float32]) { tanh(@f(sigmoid(%x))) }");
  EXPECT_EQ(result_type(module, "f"), "Tensor[(3), float32]");
  EXPECT_EQ(result_type(module), "Tensor[(3), float32]");
}

TEST_F(MixedPrecisionTest, AClosureThatCallsItselfKeepsItsType) {
  const IRModule module = convert(
      "def @main(%n: int32, %x: Tensor[(3), float32]) {\n"
      "  let %f = fn (%i: int32, %a: Tensor[(3), float32]) -> Tensor[(3), float32] {\n"
      "    %0 = equal(%i, 0);\n"
      "    if (%0) { tanh(%a) } else { %f(subtract(%i, 1), sigmoid(%a)) }\n"
      "  };\n"
      "  %f(%n, %x)\n}");
  EXPECT_EQ(result_type(module), "Tensor[(3), float32]");
}

TEST_F(MixedPrecisionTest, BranchesMeetInOneType) {
  const IRModule module =
      convert("def @main(%c: bool, %x: Tensor[(3), float32]) { if (%c) { tanh(%x) } else { exp(%x) } }");
  EXPECT_EQ(result_type(module), "Tensor[(3), float32]");
}

TEST_F(MixedPrecisionTest, CellsKeepWhatTheyHold) {
  const IRModule module = convert(
      "def @main(%x: Tensor[(3), float32]) {\n"
      "  let %r = ref(%x); let %u = ref_write(%r, tanh(%x)); ref_read(%r) }");
  EXPECT_EQ(result_type(module), "Tensor[(3), float32]");
}

TEST_F(MixedPrecisionTest, IntegersStay) {
  const IRModule module =
      convert("def @main(%x: Tensor[(2, 3), int8], %w: Tensor[(4, 3), int8]) { nn.dense(%x, %w, units=4) }");
  EXPECT_EQ(result_type(module), "Tensor[(2, 4), int8]");
}

TEST_F(MixedPrecisionTest, OperatorsWithoutARule) {
  const char* text = "def @main(%x: Tensor[(3), float32]) { negative(negative(%x)) }";
  EXPECT_EQ(result_type(convert(text)), "Tensor[(3), float16]");
  EXPECT_EQ(log_,
            "ToMixedPrecision: nothing says in which precision negative computes (2 calls): it follows its "
            "inputs\n");
  log_.clear();
  convert(text, {{"missing_op_mode", 2}});
  EXPECT_EQ(log_, "");
  EXPECT_THROW(convert(text, {{"missing_op_mode", 0}}), UsageError);
  EXPECT_THROW(convert(text, {{"missing_op_mode", 3}}), UsageError);
  EXPECT_THROW(convert(text, {{"mixed_precision_type", "int8"}}), UsageError);
}

TEST_F(MixedPrecisionTest, QuantizedOperatorsKeepTheirScales) {
  const IRModule module = convert(
      "def @main(%x: Tensor[(3), float32]) { tanh(qnn.dequantize(qnn.quantize(tanh(%x), 0.5f, 0, "
      "out_dtype=\"int8\"), 0.5f, 0)) }");
  EXPECT_EQ(result_type(module), "Tensor[(3), float32]");
}

// A rule of one's own: sums in float32, hands on float16.
TEST_F(MixedPrecisionTest, RulesCanBeReplaced) {
  static bool on = false;
  const auto rule = [](const Expr&, DType type) {
    return MixedPrecisionRule{MixedPrecision::kAlways, on ? DType::float_(32) : type, type};
  };
  EXPECT_THROW(register_mixed_precision("nn.dense", rule), UsageError);
  EXPECT_THROW(register_mixed_precision("nn.dens", rule, 11), UsageError);
  register_mixed_precision("nn.dense", rule, 5);  // too low
  register_mixed_precision("nn.dense", rule, 11);
  on = true;
  const IRModule module = convert(kDense);
  on = false;
  const auto* cast = as<CallNode>(module->find("main")->body());
  EXPECT_EQ(cast->op()->name, "cast");
  EXPECT_EQ(type_text(cast->args()[0]->checked_type()), "Tensor[(2, 4), float32]");
  EXPECT_EQ(result_type(module), "Tensor[(2, 4), float16]");
}

TEST_F(MixedPrecisionTest, AHundredThousandCalls) {
  constexpr int kCalls = 100'000;
  std::string text =
      "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(2, 3), float32], %w: Tensor[(3, 3), float32]) {\n";
  for (int i = 0; i < kCalls; ++i) {
    const std::string before = i == 0 ? "%x" : "%" + std::to_string(i - 1);
    const std::string value = i % 3 == 0   ? "exp(" + before
                              : i % 3 == 1 ? "tanh(" + before
                                           : "nn.dense(" + before + ", %w, units=3";
    text += "  %" + std::to_string(i) + " = " + value + ");\n";
  }
  const IRModule module = (*make_pass("ToMixedPrecision"))(
      infer_types(parse_module(text + "  %" + std::to_string(kCalls - 1) + "\n}\n")), host_context());
  EXPECT_EQ(result_type(module), "Tensor[(2, 3), float32]");
}

}  // namespace
}  // namespace baton
