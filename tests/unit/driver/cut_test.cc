// What belongs to a cut, what is refused and with which words, and what comes out. That it computes the right
// thing is the property of tests/unit/properties/random_cuts_test.cc.
#include "baton/driver/cut/cut.h"

#include <gmock/gmock.h>

#include "baton/driver/initialize.h"
#include "baton/ir/op.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/text/origin_label.h"
#include "baton/text/printer.h"

#include "driver/cut_programs.h"

namespace baton {
namespace {

using namespace cut_programs;

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> labels(const std::vector<CutOperator>& operators) {
  std::vector<std::string> labels;
  for (const CutOperator& each : operators) labels.push_back(origin_label(*each.origin));
  return labels;
}

std::vector<std::string> reasons(const std::vector<CutOperator>& operators) {
  std::vector<std::string> reasons;
  for (const CutOperator& each : operators) reasons.push_back(each.why);
  return reasons;
}

std::string text_of(const CutProgram& program, const CutChoice& choice) {
  PrintOptions options;
  options.version = options.types = options.spans = false;
  options.metadata = PrintOptions::Metadata::kNone;
  return print(*cut_out(program.graph(), choice).module, options);
}

TEST(CutTest, OperatorsBecomeAModuleOfTheirOwn) {
  const auto program = program_of(kBlock);
  EXPECT_EQ(
      text_of(*program, by_operators(*program, "%1,%2,%3")),
      R"(def @main(%relu_0: Tensor[(1, 8, 10, 10), float32], %w1: Tensor[(8, 8, 3, 3), float32], %g: Tensor[(8), float32], %b: Tensor[(8), float32], %m: Tensor[(8), float32], %v: Tensor[(8), float32]) -> Tensor[(1, 8, 10, 10), float32] {
  %0 = nn.conv2d(%relu_0, %w1, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]);
  %1 = nn.batch_norm(%0, %g, %b, %m, %v);
  %2 = %1.0;
  nn.relu(%2)
}
)");
}

TEST(CutTest, WhatWasDroppedBetweenBelongsToIt) {
  const auto program = program_of(kBlock);
  const CutChoice choice = by_operators(*program, "%3,%5");
  EXPECT_THAT(labels(choice.operators), ElementsAre("%3 nn.relu", "%4 nn.dropout", "%5 nn.conv2d"));
  EXPECT_THAT(reasons(choice.operators),
              ElementsAre("chosen",
                          "lies between; retired by SimplifyInference: dropout is the identity at inference",
                          "chosen"));
}

TEST(CutTest, WhatWasFoldedIntoWeightsBelongsToTheNode) {
  const auto program = program_of(R"(
def @main(%x: Tensor[(1, 8), float32], %w: Tensor[(8, 4), float32]) {
  %0 = nn.relu(%x);
  %1 = transpose(%w, axes=[1, 0]);
  %2 = nn.dense(%0, %1, units=4);
  tanh(%2)
}
)");
  std::string kernel;  // what it is called depends on the layout of the weights
  for (const PlanNode& node : program->plan().plan->graph->nodes)
    if (node.func_name.find("dense") != std::string::npos) kernel = node.func_name;
  const CutChoice choice = program->choose({kernel, "", ""});
  EXPECT_THAT(labels(choice.operators), ElementsAre("%1 transpose", "%2 nn.dense", "7:3 tanh"));
  EXPECT_THAT(choice.operators[0].why, HasSubstr("folded into the constant p0 of node "));
  EXPECT_THAT(choice.operators[1].why, HasSubstr("computed by node "));
}

TEST(CutTest, AHoleIsRefusedWithItsEdge) {
  const auto program = program_of(kBlock);
  const std::string what = message_of([&] { by_operators(*program, "%0,%6"); });
  EXPECT_THAT(what, HasSubstr("what was chosen leaves a hole: from %0 nn.relu, through %1 nn.conv2d (node "));
  EXPECT_THAT(what, HasSubstr(" ... %5 nn.conv2d (node "));
  EXPECT_THAT(what, HasSubstr(", back to %6 add\n  to close it add %1 nn.conv2d, %2 nn.batch_norm, %3 "
                              "nn.relu, %4 nn.dropout, %5 nn.conv2d: nodes "));
}

TEST(CutTest, WhatTheMessageNamesClosesTheHole) {
  const auto program = program_of(kBlock);
  const std::string what = message_of([&] { by_operators(*program, "%0,%6"); });
  const std::string nodes = what.substr(what.rfind(' ') + 1);
  const GraphPlan& plan = *program->plan().plan;
  std::string ends;
  for (size_t i = 0; i < plan.nodes.size(); ++i)
    for (const Origin* origin : plan.nodes[i].origins.origins())
      if (plan.nodes[i].function && (origin_name(*origin) == "%0" || origin_name(*origin) == "%6"))
        ends += std::to_string(i) + ",";
  EXPECT_EQ(message_of([&] { by_nodes(*program, ends + nodes); }), "no error");
}

TEST(CutTest, ConstantsThatAreSharedBecomeOneParameter) {
  initialize();
  const Constant weight =
      make_constant(parameter_value("c", {4}, DType::float_(32)), NodeInfo(OriginSet::none()));
  const Constant one = scalar(1, DType::float_(32));
  const Var x = var("x", tensor_type(Shape{4}, DType::float_(32)));
  const Expr sum = call("add", {Expr(x), Expr(weight)}), product = call("multiply", {sum, Expr(weight)});
  const Expr shifted = call("add", {product, Expr(one)});
  CutProgram program(module_from_expr(shifted), {});
  EXPECT_EQ(text_of(program, by_operators(program, "id:1,id:2")),
            R"(def @main(%add: Tensor[(4), float32], %const: Tensor[(4), float32]) -> Tensor[(4), float32] {
  %0 = multiply(%add, %const);
  add(%0, 1f)
}
)");
}

TEST(CutTest, SeveralResultsBecomeATuple) {
  const auto program = program_of(kSplit);
  EXPECT_EQ(
      text_of(*program, by_operators(*program, "%0,%1")),
      R"(def @main(%x: Tensor[(4, 6), float32]) -> (Tensor[(4, 2), float32], Tensor[(4, 2), float32], Tensor[(4, 2), float32], Tensor[(4, 2), float32]) {
  %0 = split(%x, indices_or_sections=3, axis=1);
  %1 = %0.0;
  %2 = %0.1;
  %3 = %0.2;
  %4 = tanh(%1);
  (%1, %2, %3, %4)
}
)");
}

TEST(CutTest, ATupleThatEntersIsTakenApart) {
  const auto program = program_of(kSplit);
  EXPECT_EQ(
      text_of(*program, by_operators(*program, "%4,%3")),
      R"(def @main(%split_0_1: Tensor[(4, 2), float32], %tanh_1: Tensor[(4, 2), float32], %split_0_0: Tensor[(4, 2), float32], %split_0_2: Tensor[(4, 2), float32], %y: Tensor[(4, 2), float32]) -> (Tensor[(4, 6), float32], Tensor[(12, 2), float32]) {
  %0 = (%tanh_1, %split_0_1, %y);
  %1 = (%split_0_0, %split_0_1, %split_0_2);
  %2 = concatenate(%0, axis=1);
  %3 = concatenate(%1);
  (%2, %3)
}
)");
}

TEST(CutTest, LetsAreReplacedByTheirValues) {
  const auto program = program_of(R"(
def @main(%x: Tensor[(4), float32]) {
  let %a = tanh(%x);
  let %b = exp(%a);
  let %c = add(%b, %a);
  log(%c)
}
)");
  EXPECT_EQ(text_of(*program, by_operators(*program, "exp,add")),
            R"(def @main(%a: Tensor[(4), float32]) -> Tensor[(4), float32] {
  %0 = exp(%a);
  add(%0, %a)
}
)");
}

const char* const kComposite = R"(
def @main(%x: Tensor[(4, 8), float32], %w: Tensor[(6, 8), float32]) {
  %0 = tanh(%x);
  %1 = fn (%a: Tensor[(4, 8), float32], %b: Tensor[(6, 8), float32], Composite="mine.dense_relu") {
    %2 = nn.dense(%a, %b, units=None);
    nn.relu(%2)
  };
  %3 = %1(%0, %w);
  exp(%3)
}
)";

TEST(CutTest, ACompositeFunctionIsTakenWhole) {
  const auto program = program_of(kComposite);
  const CutChoice choice = by_operators(*program, "nn.relu");
  EXPECT_THAT(labels(choice.operators), ElementsAre("%2 nn.dense", "7:5 nn.relu"));
  EXPECT_THAT(reasons(choice.operators),
              ElementsAre("in the composite function `mine.dense_relu` with 7:5 nn.relu", "chosen"));
  EXPECT_THAT(text_of(*program, choice), HasSubstr("Composite=\"mine.dense_relu\""));
}

TEST(CutTest, FunctionsThatAreNamedComeAlong) {
  const auto program = program_of(R"(
def @twice(%a: Tensor[(4), float32], Inline=1) -> Tensor[(4), float32] { add(%a, %a) }
def @other(%a: Tensor[(4), float32], Inline=1) -> Tensor[(4), float32] { tanh(%a) }
def @main(%x: Tensor[(4), float32]) {
  %0 = exp(%x);
  %1 = @twice(%0);
  %2 = @other(%1);
  log(%2)
}
)");
  const std::string text = text_of(*program, by_operators(*program, "add,exp"));
  EXPECT_THAT(text, HasSubstr("@twice(%0)"));
  EXPECT_THAT(text, HasSubstr("def @twice("));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("@other")));
}

TEST(CutTest, APartOfABranchIsRefused) {
  const auto program = program_of(kBranch);
  EXPECT_EQ(message_of([&] { by_operators(*program, "exp"); }),
            "what was chosen cuts the `if` at 5:8: %2 exp is inside, and so is 7:5 sqrt, which was not "
            "chosen\n  choose all of it, or what is before or "
            "behind it");
}

TEST(CutTest, AWholeBranchCanBeTaken) {
  const auto program = program_of(kBranch);
  EXPECT_EQ(text_of(*program, by_operators(*program, "exp,sqrt,log")),
            R"(def @main(%tanh_0: Tensor[(4), float32], %y: bool) -> Tensor[(4), float32] {
  %1 = if (%y) {
    %0 = exp(%tanh_0);
    sqrt(%0)
  } else {
    %tanh_0
  };
  log(%1)
}
)");
}

TEST(CutTest, ABranchBetweenIsAHole) {
  const auto program = program_of(kBranch);
  EXPECT_EQ(message_of([&] { by_operators(*program, "tanh,log"); }),
            "what was chosen leaves a hole: from %0 tanh, through the `if` at 5:8, back to 11:3 log\n  to "
            "close it add the `if` at 5:8");
}

TEST(CutTest, APartOfAMatchIsRefused) {
  const auto program = program_of(R"(
type Choice { Taken(Tensor[(4), float32]), Left }
def @main(%x: Tensor[(4), float32]) {
  %0 = Taken(%x);
  %1 = match (%0) {
    Taken(%t) => tanh(%t),
    Left => sqrt(%x),
  };
  log(%1)
}
)");
  EXPECT_THAT(message_of([&] { by_operators(*program, "sqrt,log"); }),
              HasSubstr("what was chosen cuts the `match` at 6:8: 8:13 sqrt is inside, and so is 7:18 tanh, "
                        "which was not chosen"));
}

TEST(CutTest, APartOfARecursionIsRefused) {
  const auto program = program_of(R"(
def @loop(%n: int32, %a: Tensor[(4), float32]) -> Tensor[(4), float32] {
  if (less(%n, 1)) { %a } else { @loop(subtract(%n, 1), tanh(%a)) }
}
def @main(%x: Tensor[(4), float32]) {
  %0 = exp(%x);
  %1 = @loop(3, %0);
  log(%1)
}
)");
  EXPECT_THAT(message_of([&] { by_operators(*program, "exp,tanh"); }),
              HasSubstr("what was chosen cuts the recursion of `@loop`: 4:57 tanh is inside, and so is 4:7 "
                        "less, 4:40 subtract, which"));
}

TEST(CutTest, ALoopThatIsALetIsRefusedInParts) {
  const auto program = program_of(R"(
def @main(%x: Tensor[(4), float32]) {
  let %loop = fn (%n: int32, %a: Tensor[(4), float32]) -> Tensor[(4), float32] {
    if (less(%n, 1)) { %a } else { %loop(subtract(%n, 1), tanh(%a)) }
  };
  let %r = %loop(3, %x);
  log(%r)
}
)");
  EXPECT_THAT(message_of([&] { by_operators(*program, "tanh,log"); }),
              HasSubstr("what was chosen cuts the loop `%loop`"));
}

TEST(CutTest, ReferencesAreRefused) {
  const std::string what = message_of([] {
    program_of(
        "def @main(%x: Tensor[(4), float32]) {\n  %0 = ref(%x);\n  %1 = ref_read(%0);\n  tanh(%1)\n}\n");
  });
  EXPECT_THAT(what, HasSubstr("a program with references cannot be cut"));
}

TEST(CutTest, WhatIsNoTensorCannotCrossTheBorder) {
  const auto program = program_of(R"(
type List[A] { Cons(A, List[A]), Nil }
def @main(%x: Tensor[(4), float32]) {
  %0 = tanh(%x);
  %1 = Cons(%0, Nil);
  match? (%1) {
    Cons(%h, _) => exp(%h),
  }
}
)");
  EXPECT_THAT(message_of([&] { text_of(*program, by_operators(*program, "exp")); }),
              HasSubstr("only tensors, and tuples of them, cross the border of a cut"));
}

}  // namespace
}  // namespace baton
