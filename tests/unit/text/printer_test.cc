#include "baton/text/printer.h"

#include <gtest/gtest.h>

#include "baton/ir/op.h"
#include "baton/ir/structural.h"
#include "baton/ops/register.h"
#include "baton/text/parser.h"

#include "text/reference.h"

namespace baton::text {
namespace {

class PrinterTest : public testing::Test {
 protected:
  void SetUp() override { register_all_ops(); }

  static PrintOptions bare() {
    PrintOptions options;
    options.version = options.types = options.spans = false;
    options.metadata = PrintOptions::Metadata::kNone;
    return options;
  }
  static Var input(const std::string& name) {
    return var(name, tensor_type(std::vector<Dim>{2, 3}, DType::float_(32)));
  }
};

std::string golden(const std::string& id, const char* form) {
  for (const auto& each : reference("text.jsonl.gz"))
    if (each["id"] == id) return each[form].get<std::string>();
  return "no case " + id;
}

TEST_F(PrinterTest, ExpressionsAsTvmPrintsThem) {
  const Expr sum = call("nn.relu", {call("add", {input("x"), scalar(1, DType::float_(32))})});
  EXPECT_EQ(str(sum), golden("repr/call", "str"));
  EXPECT_EQ(astext(sum), golden("repr/call", "astext"));
  EXPECT_EQ(str(Expr(scalar(3, DType::int_(32)))), golden("repr/const_scalar", "str"));
  EXPECT_EQ(str(Expr(scalar(1, DType::bool_()))), golden("repr/const_bool", "str"));
  EXPECT_EQ(astext(scalar_type(DType::float_(32))), golden("repr/scalar_type", "astext"));
  EXPECT_EQ(str(func_type({tensor_type(std::vector<Dim>{2}, DType::float_(32))}, tuple_type({}))),
            golden("repr/func_type", "str"));
  EXPECT_EQ(astext(incomplete_type()), golden("repr/incomplete", "astext"));
  EXPECT_EQ(str(incomplete_type()), golden("repr/incomplete", "str"));
}

TEST_F(PrinterTest, ConstantsStandInTheMetadataAsTvmWritesIt) {
  const float values[] = {0, 1, 2, 3, 4, 5};
  const Expr constant = baton::constant(NDArray::of<float>({2, 3}, values, DType::float_(32)));
  EXPECT_EQ(str(constant), golden("repr/const_tensor", "str"));
  EXPECT_EQ(astext(constant), golden("repr/const_tensor", "astext"));
  EXPECT_EQ(astext(constant, false),
            "#[version = \"0.0.5\"]\nmeta[relay.Constant][0]\n"
            "/* For debugging purposes the metadata section has been omitted.\n"
            " * If you would like to see the full metadata section you can set the \n"
            " * option to `True` when invoking `astext`. \n"
            " */");
}

TEST_F(PrinterTest, AFunctionThatIsCalledGetsItsNumberAfterTheArguments) {
  const Var x = input("x"), y = input("y");
  const Function inner = function({y}, call("nn.relu", {call("tanh", {y})}));
  const Expr whole = function({x}, call_expr(inner, {call("tanh", {x})}));
  EXPECT_EQ(print(whole, bare()),
            "fn (%x: Tensor[(2, 3), float32]) {\n"
            "  %1 = tanh(%x);\n"
            "  %2 = fn (%y: Tensor[(2, 3), float32]) {\n"
            "    %0 = tanh(%y);\n"
            "    nn.relu(%0)\n"
            "  };\n"
            "  %2(%1)\n"
            "}");
}

TEST_F(PrinterTest, ALetInTheValueOfALetStandsInPlace) {
  const Var x = input("x"), v = var("v"), v2 = var("v2");
  const Expr inner = let(v, call("nn.relu", {x}), v);
  const Expr whole = function({x}, let(v2, inner, call("add", {v2, v2})));
  EXPECT_TRUE(structural_equal(parse_expr(astext(whole)), whole));  // TVM cannot read it
  EXPECT_EQ(print(whole, bare()),
            "fn (%x: Tensor[(2, 3), float32]) {\n"
            "  let %v2 = let %v = nn.relu(%x);\n"
            "  %v;\n"
            "  add(%v2, %v2)\n"
            "}");
}

// A block that is made early and written in an inner block takes that block's indentation.
TEST_F(PrinterTest, LinesMoveWithTheirBlock) {
  const Var x = input("x"), c = var("c", scalar_type(DType::bool_())), y = input("y");
  const Expr branch = if_else(c, x, call("tanh", {x}));
  const Function user = function({y}, call("add", {y, branch}));
  const Expr tuple = baton::tuple({user, branch});
  EXPECT_EQ(print(function({c, x}, tuple), bare()),
            "fn (%c: bool, %x: Tensor[(2, 3), float32]) {\n"
            "  %1 = fn (%y: Tensor[(2, 3), float32]) {\n"
            "    %0 = if (%c) {\n"
            "      %x\n"
            "    } else {\n"
            "      tanh(%x)\n"
            "    };\n"
            "    add(%y, %0)\n"
            "  };\n"
            "  (%1, %0)\n"
            "}");
  const Expr other_way = baton::tuple({branch, call_expr(user, {x})});
  PrintOptions options = bare();
  std::vector<CallPosition> positions;
  options.positions = &positions;
  const std::string text = print(function({c, x}, other_way), options);
  EXPECT_EQ(text,
            "fn (%c: bool, %x: Tensor[(2, 3), float32]) {\n"
            "  %1 = fn (%y: Tensor[(2, 3), float32]) {\n"
            "    %0 = if (%c) {\n"
            "      %x\n"
            "    } else {\n"
            "      tanh(%x)\n"
            "    };\n"
            "    add(%y, %0)\n"
            "  };\n"
            "  %2 = %1(%x);\n"
            "  (%0, %2)\n"
            "}");
  ASSERT_EQ(positions.size(), 2u);
  EXPECT_EQ(positions[0].call->op()->name, "tanh");
  EXPECT_EQ(std::pair(positions[0].line, positions[0].column), std::pair(6u, 7u));
  EXPECT_EQ(positions[1].call->op()->name, "add");
  EXPECT_EQ(std::pair(positions[1].line, positions[1].column), std::pair(8u, 5u));
}

TEST_F(PrinterTest, TypesShowWhereInferenceWent) {
  const Type type = tensor_type(std::vector<Dim>{2, 3}, DType::float_(32));
  const NodeInfo typed(OriginSet::none(), {}, type);
  const Var x = input("x");
  const Expr one = scalar(1, DType::float_(32));
  const Expr sum = make_call(op_expr(*find_op("add")), {x, one}, {}, typed);
  const Expr twice = make_call(op_expr(*find_op("add")), {sum, one}, {}, typed);
  EXPECT_EQ(str(Expr(function({x}, twice, type))),
            "fn (%x: Tensor[(2, 3), float32] /* ty=Tensor[(2, 3), float32] */) -> Tensor[(2, 3), float32] {\n"
            "  %0 = add(%x, 1f /* ty=float32 */) /* ty=Tensor[(2, 3), float32] */;\n"
            "  add(%0, 1f) /* ty=Tensor[(2, 3), float32] */\n"
            "}");
  EXPECT_EQ(str(Expr(function({x}, call("add", {x, one}), type))),
            "fn (%x: Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32] {\n  add(%x, 1f)\n}");
}

TEST_F(PrinterTest, OriginsOfTheCompilerSayWhy) {
  const Var x = input("x");
  const Call user = call("nn.relu", {x});
  const OriginSet made = OriginSet::made_for(user->origins(), "layout NCHW8c");
  const Expr added = make_call(op_expr(*find_op("tanh")), {user}, {}, NodeInfo(made));
  PrintOptions options = bare();
  options.origins = true;
  EXPECT_EQ(print(added, options),
            "free_var %x: Tensor[(2, 3), float32];\n"
            "%0 = nn.relu(%x) /* from=nn.relu */;\n"
            "tanh(%0) /* made_for=nn.relu \"layout NCHW8c\" */");
  options.origin_name = [](const Origin& origin) { return origin.op() + "!"; };
  EXPECT_EQ(print(Expr(user), options),
            "free_var %x: Tensor[(2, 3), float32];\nnn.relu(%x) /* from=nn.relu! */");
}

TEST_F(PrinterTest, AnnotationsReplaceTheComments) {
  const Var x = input("x");
  PrintOptions options = bare();
  options.annotate = [](const Expr& expr) {
    return std::string(" // ") + (as<OpNode>(expr)     ? "Op"
                                  : as<CallNode>(expr) ? "Call"
                                  : as<VarNode>(expr)  ? "Var"
                                                       : "?");
  };
  EXPECT_EQ(print(function({x}, call("nn.relu", {call("tanh", {x})})), options),
            "fn (%x: Tensor[(2, 3), float32] // Var) {\n"
            "  %0 = tanh // Op(%x) // Call;\n"
            "  nn.relu // Op(%0) // Call\n"
            "} // ?");
}

TEST_F(PrinterTest, AVariableThatIsBoundTwiceIsMarked) {
  const Var x = input("x");
  EXPECT_EQ(
      print(function({x}, let(x, scalar(1, DType::float_(32)), x)), bare()),
      "fn (%x: Tensor[(2, 3), float32]) {\n  let %x-malformed-ir: Tensor[(2, 3), float32] = 1f;\n  %x\n}");
}

TEST_F(PrinterTest, ThousandEqualNames) {
  std::vector<Var> params;
  for (int i = 0; i < 1000; ++i) params.push_back(input("x"));
  const std::string text = print(function(params, params.back()), bare());
  EXPECT_NE(text.find("  %x999\n"), std::string::npos);
}

}  // namespace
}  // namespace baton::text
