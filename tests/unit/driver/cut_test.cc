// What belongs to a cut, what is refused and with which words, and what comes out. That it computes the right thing is the
// property of tests/unit/properties/random_cuts_test.cc.
#include "baton/driver/cut.h"

#include <gmock/gmock.h>

#include "baton/driver/cut_program.h"
#include "baton/driver/cut_text.h"
#include "baton/driver/initialize.h"
#include "baton/driver/mark_region.h"
#include "baton/driver/node_selection.h"
#include "baton/pass/origin_verifier.h"
#include "baton/pass/pass.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/support/error.h"
#include "baton/text/origin_label.h"
#include "baton/text/parser.h"
#include "baton/text/printer.h"
#include "baton/transform/infer_type.h"

namespace baton {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Parameters but %x and %y are weights.
std::unique_ptr<CutProgram> program_of(const std::string& body) {
  initialize();
  const IRModule module = infer_types(parse_module("#[version = \"0.0.5\"]\n" + body, "test.relay"));
  BuildOptions options;
  options.opt_level = 3;
  for (const Var& param : module->find("main")->params()) {
    const auto* type = as_type<TensorTypeNode>(param->annotation());
    if (type && param->name() != "x" && param->name() != "y")
      options.params.emplace_back(param->name(), parameter_value(param->name(), type->extents(), type->dtype()));
  }
  return std::make_unique<CutProgram>(module, options);
}

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

CutChoice by_operators(CutProgram& program, const std::string& text) { return program.choose({"", "", text}); }
CutChoice by_nodes(CutProgram& program, const std::string& text) { return program.choose({"", text, ""}); }

std::string text_of(const CutProgram& program, const CutChoice& choice) {
  PrintOptions options;
  options.version = options.types = options.spans = false;
  options.metadata = PrintOptions::Metadata::kNone;
  return print(*cut_out(program.graph(), choice).module, options);
}

template <class Act>
std::string message_of(Act act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

const char* const kBlock = R"(
def @main(%x: Tensor[(1, 8, 10, 10), float32], %w1: Tensor[(8, 8, 3, 3), float32], %g: Tensor[(8), float32], %b: Tensor[(8), float32], %m: Tensor[(8), float32], %v: Tensor[(8), float32], %w2: Tensor[(8, 8, 3, 3), float32]) {
  %0 = nn.relu(%x);
  %1 = nn.conv2d(%0, %w1, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]);
  %2 = nn.batch_norm(%1, %g, %b, %m, %v);
  %3 = nn.relu(%2.0);
  %4 = nn.dropout(%3);
  %5 = nn.conv2d(%4.0, %w2, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]);
  %6 = add(%5, %0);
  nn.max_pool2d(%6, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0])
}
)";

TEST(CutTest, OperatorsBecomeAModuleOfTheirOwn) {
  const auto program = program_of(kBlock);
  EXPECT_EQ(text_of(*program, by_operators(*program, "%1,%2,%3")), R"(def @main(%relu_0: Tensor[(1, 8, 10, 10), float32], %w1: Tensor[(8, 8, 3, 3), float32], %g: Tensor[(8), float32], %b: Tensor[(8), float32], %m: Tensor[(8), float32], %v: Tensor[(8), float32]) -> Tensor[(1, 8, 10, 10), float32] {
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
  EXPECT_THAT(reasons(choice.operators), ElementsAre("chosen", "lies between; retired by SimplifyInference: dropout is the identity at inference", "chosen"));
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
  const CutChoice choice = program->choose({"fused_nn_contrib_dense_pack_tanh", "", ""});
  EXPECT_THAT(labels(choice.operators), ElementsAre("%1 transpose", "%2 nn.dense", "7:3 tanh"));
  EXPECT_THAT(choice.operators[0].why, HasSubstr("folded into the constant p0 of node "));
  EXPECT_THAT(choice.operators[1].why, HasSubstr("computed by node "));
}

TEST(CutTest, AHoleIsRefusedWithItsEdge) {
  const auto program = program_of(kBlock);
  const std::string what = message_of([&] { by_operators(*program, "%0,%6"); });
  EXPECT_THAT(what, HasSubstr("what was chosen leaves a hole: from %0 nn.relu, through %1 nn.conv2d (node "));
  EXPECT_THAT(what, HasSubstr(" ... %5 nn.conv2d (node "));
  EXPECT_THAT(what, HasSubstr(", back to %6 add\n  to close it add %1 nn.conv2d, %2 nn.batch_norm, %3 nn.relu, %4 nn.dropout, %5 nn.conv2d: nodes "));
}

TEST(CutTest, WhatTheMessageNamesClosesTheHole) {
  const auto program = program_of(kBlock);
  const std::string what = message_of([&] { by_operators(*program, "%0,%6"); });
  const std::string nodes = what.substr(what.rfind(' ') + 1);
  const GraphPlan& plan = *program->plan().plan;
  std::string ends;
  for (size_t i = 0; i < plan.nodes.size(); ++i)
    for (const Origin* origin : plan.nodes[i].origins.origins())
      if (plan.nodes[i].function && (origin_name(*origin) == "%0" || origin_name(*origin) == "%6")) ends += std::to_string(i) + ",";
  EXPECT_EQ(message_of([&] { by_nodes(*program, ends + nodes); }), "no error");
}

TEST(CutTest, ConstantsThatAreSharedBecomeOneParameter) {
  initialize();
  const Constant weight = make_constant(parameter_value("c", {4}, DType::float_(32)), NodeInfo(OriginSet::none()));
  const Constant one = scalar(1, DType::float_(32));
  const Var x = var("x", tensor_type(Shape{4}, DType::float_(32)));
  const Expr sum = call("add", {Expr(x), Expr(weight)}), product = call("multiply", {sum, Expr(weight)});
  const Expr shifted = call("add", {product, Expr(one)});
  CutProgram program(module_from_expr(shifted), {});
  EXPECT_EQ(text_of(program, by_operators(program, "id:1,id:2")), R"(def @main(%add: Tensor[(4), float32], %const: Tensor[(4), float32]) -> Tensor[(4), float32] {
  %0 = multiply(%add, %const);
  add(%0, 1f)
}
)");
}

const char* const kSplit = R"(
def @main(%x: Tensor[(4, 6), float32], %y: Tensor[(4, 2), float32]) {
  %0 = split(%x, indices_or_sections=3, axis=1);
  %1 = tanh(%0.0);
  %2 = (%1, %0.1, %y);
  %3 = concatenate(%2, axis=1);
  %4 = concatenate(%0, axis=0);
  (%3, %4, %0.2)
}
)";

TEST(CutTest, SeveralResultsBecomeATuple) {
  const auto program = program_of(kSplit);
  EXPECT_EQ(text_of(*program, by_operators(*program, "%0,%1")), R"(def @main(%x: Tensor[(4, 6), float32]) -> (Tensor[(4, 2), float32], Tensor[(4, 2), float32], Tensor[(4, 2), float32], Tensor[(4, 2), float32]) {
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
  EXPECT_EQ(text_of(*program, by_operators(*program, "%4,%3")), R"(def @main(%split_0_1: Tensor[(4, 2), float32], %tanh_1: Tensor[(4, 2), float32], %split_0_0: Tensor[(4, 2), float32], %split_0_2: Tensor[(4, 2), float32], %y: Tensor[(4, 2), float32]) -> (Tensor[(4, 6), float32], Tensor[(12, 2), float32]) {
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
  EXPECT_EQ(text_of(*program, by_operators(*program, "exp,add")), R"(def @main(%a: Tensor[(4), float32]) -> Tensor[(4), float32] {
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
  EXPECT_THAT(reasons(choice.operators), ElementsAre("in the composite function `mine.dense_relu` with 7:5 nn.relu", "chosen"));
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

const char* const kBranch = R"(
def @main(%x: Tensor[(4), float32], %y: bool) {
  %0 = tanh(%x);
  %1 = if (%y) {
    %2 = exp(%0);
    sqrt(%2)
  } else {
    %0
  };
  log(%1)
}
)";

TEST(CutTest, APartOfABranchIsRefused) {
  const auto program = program_of(kBranch);
  EXPECT_EQ(message_of([&] { by_operators(*program, "exp"); }),
            "what was chosen cuts the `if` at 5:8: %2 exp is inside, and so is 7:5 sqrt, which was not chosen\n  choose all of it, or what is before or "
            "behind it");
}

TEST(CutTest, AWholeBranchCanBeTaken) {
  const auto program = program_of(kBranch);
  EXPECT_EQ(text_of(*program, by_operators(*program, "exp,sqrt,log")), R"(def @main(%tanh_0: Tensor[(4), float32], %y: bool) -> Tensor[(4), float32] {
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
            "what was chosen leaves a hole: from %0 tanh, through the `if` at 5:8, back to 11:3 log\n  to close it add the `if` at 5:8");
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
              HasSubstr("what was chosen cuts the recursion of `@loop`: 4:57 tanh is inside, and so is 4:7 less, 4:40 subtract, which"));
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
  EXPECT_THAT(message_of([&] { by_operators(*program, "tanh,log"); }), HasSubstr("what was chosen cuts the loop `%loop`"));
}

TEST(CutTest, ReferencesAreRefused) {
  const std::string what = message_of([] {
    program_of("def @main(%x: Tensor[(4), float32]) {\n  %0 = ref(%x);\n  %1 = ref_read(%0);\n  tanh(%1)\n}\n");
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
  EXPECT_THAT(message_of([&] { text_of(*program, by_operators(*program, "exp")); }), HasSubstr("only tensors, and tuples of them, cross the border of a cut"));
}

// ---- How nodes are named.

const char* const kChain = R"(
def @main(%x: Tensor[(1, 4, 8, 8), float32], %y: Tensor[(1, 4, 8, 8), float32]) {
  %0 = nn.max_pool2d(%x, pool_size=[3, 3], padding=[1, 1, 1, 1]);
  %1 = split(%0, indices_or_sections=2, axis=1);
  %2 = nn.max_pool2d(%1.0, pool_size=[3, 3], padding=[1, 1, 1, 1]);
  %3 = nn.softmax(%1.1);
  (%2, %3, %y)
}
)";

TEST(NodeSelection, IdsNamesRangesAndTensors) {
  const auto program = program_of(kChain);
  const GraphPlan& plan = *program->plan().plan;
  ASSERT_EQ(plan.nodes.size(), 6u) << plan.graph_json;  // x, y, pool, split, pool, softmax: split has the tensors 3 and 4
  EXPECT_THAT(select_nodes(plan, "2"), ElementsAre(2));
  EXPECT_THAT(select_nodes(plan, " 4 , 2:3,3 "), ElementsAre(2, 3, 4));
  EXPECT_THAT(select_nodes(plan, "fused_split"), ElementsAre(3));
  EXPECT_THAT(select_nodes(plan, "tvmgen_default_fused_split:5"), ElementsAre(3, 4, 5));
  EXPECT_THAT(select_nodes(plan, "entry:4"), ElementsAre(3));
  EXPECT_THAT(select_nodes(plan, "entry:5"), ElementsAre(4));
  EXPECT_THAT(select_nodes(plan, "entry:3:5"), ElementsAre(3, 4));
  EXPECT_THAT(select_nodes(plan, "x"), ElementsAre(0));
  EXPECT_THAT(select_kernel(plan, "fused_nn_softmax"), ElementsAre(5));
}

TEST(NodeSelection, Mistakes) {
  const auto program = program_of(kChain);
  const GraphPlan& plan = *program->plan().plan;
  const auto nodes = [&](const std::string& text) { return message_of([&] { select_nodes(plan, text); }); };
  EXPECT_EQ(nodes("6"), "there is no node 6: the graph has 6 nodes, 0 to 5");
  EXPECT_EQ(nodes("99999999999999999999"), "there is no node 99999999999999999999: the graph has 6 nodes, 0 to 5");
  EXPECT_EQ(nodes("entry:7"), "there is no entry:7: node_row_ptr counts 7 tensors, 0 to 6");
  EXPECT_EQ(nodes("entry:fused_split"), "there is no entry:fused_split: node_row_ptr counts 7 tensors, 0 to 6");
  EXPECT_EQ(nodes("4:2"), "the range `4:2` runs backwards: node 4 comes behind node 2");
  EXPECT_EQ(nodes("4:"), "the range `4:` has an open end: both ends belong to a range, as in 5:9");
  EXPECT_EQ(nodes("1,,2"), "--nodes \"1,,2\" has an empty item");
  EXPECT_EQ(nodes(" "), "--nodes names nothing");
  EXPECT_EQ(nodes("fused_splat"),
            "there is no node `fused_splat`; did you mean `fused_split`?\n  nodes are named in graph.json and by `baton profile`, counted from 0");
  EXPECT_THAT(message_of([&] { select_kernel(plan, "fused_nn_softmx"); }), HasSubstr("there is no kernel `fused_nn_softmx`; did you mean `fused_nn_softmax`?"));
  EXPECT_THAT(message_of([&] { select_operators(program->graph().module()->origins(), "%9"); }), HasSubstr("there is no operator `%9`"));
  EXPECT_EQ(message_of([&] { select_operators(program->graph().module()->origins(), "id:4"); }),
            "there is no operator id:4: the program has 4 operators, 0 to 3");
  EXPECT_THAT(message_of([&] { program->choose({"a", "1", ""}); }), HasSubstr("what is to be cut? Give one of"));
  EXPECT_THAT(message_of([&] { program->choose({}); }), HasSubstr("what is to be cut? Give one of"));
}

TEST(NodeSelection, InputsComputeNothing) {
  const auto program = program_of(kChain);
  EXPECT_EQ(message_of([&] { by_nodes(*program, "0:1"); }), "nodes 0:1 are inputs and constants only (x, y)\n  nodes that compute: 2:5");
}

TEST(NodeSelection, WhatTheCompilerAddedHasNoOperators) {
  const auto program = program_of(R"(
def @main(%x: Tensor[(1, 64, 14, 14), float32], %w: Tensor[(64, 64, 3, 3), float32]) {
  %0 = nn.max_pool2d(%x, pool_size=[3, 3], padding=[1, 1, 1, 1]);
  %1 = nn.conv2d(%0, %w, strides=[2, 2], channels=64, kernel_size=[3, 3]);
  nn.batch_flatten(%1)
}
)");
  const GraphPlan& plan = *program->plan().plan;
  for (size_t i = 0; i < plan.nodes.size(); ++i)
    if (plan.nodes[i].function && plan.nodes[i].origins.origins().empty()) {
      EXPECT_THAT(message_of([&] { by_nodes(*program, std::to_string(i)); }), HasSubstr("computes no operator of the program: the compiler added it for "));
      return;
    }
  GTEST_SKIP() << "no such node: " << plan.graph_json;
}

// ---- Marks.

class MarkTest : public ::testing::Test {
 protected:
  static std::string marked(const std::string& body, const std::string& operators, bool partitioned = false) {
    const auto program = program_of(body);
    auto context = std::make_shared<PassContext>();
    context->instruments = {std::make_shared<OriginVerifier>()};
    const PassContextScope scope(context);
    IRModule module = mark_region(program->graph(), by_operators(*program, operators), "mine").module;
    if (partitioned) module = partition_marked(module);
    PrintOptions options;
    options.version = options.types = options.spans = false;
    options.metadata = PrintOptions::Metadata::kNone;
    return print(*module, options);
  }
};

TEST_F(MarkTest, MarksStandWhereValuesEnterAndLeave) {
  EXPECT_EQ(marked(R"(
def @main(%x: Tensor[(4), float32], %w: Tensor[(4), float32]) {
  %0 = tanh(%x);
  %1 = add(%0, %w);
  %2 = exp(%1);
  subtract(%2, %1)
}
)", "add,exp"), R"(def @main(%x: Tensor[(4), float32], %w: Tensor[(4), float32]) -> Tensor[(4), float32] {
  %0 = tanh(%x);
  %1 = annotation.compiler_begin(%0, compiler="mine");
  %2 = annotation.compiler_begin(%w, compiler="mine");
  %3 = add(%1, %2);
  %4 = exp(%3);
  %5 = annotation.compiler_end(%4, compiler="mine");
  %6 = annotation.compiler_end(%3, compiler="mine");
  subtract(%5, %6)
}
)");
}

TEST_F(MarkTest, TuplesAreTakenApart) {
  const std::string text = marked(kSplit, "%0,%1");
  EXPECT_THAT(text, HasSubstr("%0 = annotation.compiler_begin(%x, compiler=\"mine\");\n  %1 = split(%0, indices_or_sections=3, axis=1);"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("compiler_end(%1,")));
}

TEST_F(MarkTest, RegionsBecomeFunctions) {
  const std::string text = marked(kBlock, "%1,%2,%3", true);
  EXPECT_THAT(text, HasSubstr("@tvmgen_default_mine_main_0(%0, %w1, %g, %b, %m, %v)"));
  EXPECT_THAT(text, HasSubstr("Compiler=\"mine\""));
}

TEST_F(MarkTest, WhatReadsNothingStaysOutside) {
  const char* const text = "def @main(%x: Tensor[(4), float32]) {\n  %0 = zeros(shape=[4], dtype=\"float32\");\n  add(%x, %0)\n}\n";
  EXPECT_THAT(marked(text, "zeros,add"), HasSubstr("%0 = zeros(shape=[4], dtype=\"float32\");\n"));
  EXPECT_EQ(message_of([&] { marked(text, "zeros"); }), "nothing is left to mark for `mine`: what was chosen reads no value");
}

TEST_F(MarkTest, FunctionsThatUseWhatIsAroundThemAreRefused) {
  EXPECT_EQ(message_of([] {
              marked(R"(
def @main(%x: Tensor[(4), float32]) {
  %0 = tanh(%x);
  %1 = fn (%a: Tensor[(4), float32]) { add(%a, %0) };
  %2 = exp(%0);
  %1(%2)
}
)", "add");
            }),
            "a region for `mine` cannot hold the function that is called at 7:3: it uses values that are not its arguments");
}

TEST_F(MarkTest, BranchesAreRefused) {
  EXPECT_EQ(message_of([] { marked(kBranch, "exp,sqrt"); }), "a region for `mine` cannot hold the `if` at 5:8: choose what is before or behind it");
}

}  // namespace
}  // namespace baton
