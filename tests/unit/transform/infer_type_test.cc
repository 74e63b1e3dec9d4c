#include "baton/types/infer_type.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baton/ir/op.h"
#include "baton/ops/nn/dense_attrs.h"
#include "baton/ops/register.h"
#include "baton/ops/shared/conv_attrs.h"

namespace baton {
namespace {

using testing::HasSubstr;

const DType f32 = DType::float_(32);

Type tensor(std::vector<int64_t> shape, DType dtype = f32) { return tensor_type(shape, dtype); }
Type dynamic(std::vector<Dim> shape) { return tensor_type(std::move(shape), f32); }

class InferType : public testing::Test {
 protected:
  void SetUp() override { register_all_ops(); }
};

/// The text of the type of `expr`, or the codes of the errors: "E0202 E0214".
std::string inferred(const Expr& expr) {
  try {
    return type_text(infer_type(expr)->checked_type());
  } catch (const DiagnosticError& error) {
    std::string codes;
    for (const Diagnostic& d : error.diagnostics()) codes += (codes.empty() ? "" : " ") + d.code;
    return codes;
  }
}

std::string message(const Expr& expr) {
  try {
    infer_type(expr);
  } catch (const DiagnosticError& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(InferType, TypesEveryNodeAndKeepsOriginsAndSpans) {
  const Var x = var("x", tensor({1, 4}));
  const Expr inner = call("nn.relu", {x}), outer = call("nn.relu", {inner});
  const Expr typed = infer_type(outer);
  EXPECT_EQ(type_text(typed->checked_type()), "Tensor[(1, 4), float32]");
  const auto* call_node = as<CallNode>(typed);
  EXPECT_EQ(type_text(call_node->args()[0]->checked_type()), "Tensor[(1, 4), float32]");
  EXPECT_EQ(typed->origins(), outer->origins());
  EXPECT_EQ(call_node->args()[0]->origins(), inner->origins());
  EXPECT_EQ(as<CallNode>(call_node->args()[0])->args()[0], Expr(x));
}

TEST_F(InferType, LeavesWhatIsTyped) {
  const Expr typed = infer_type(call("nn.relu", {var("x", tensor({2}))}));
  EXPECT_EQ(infer_type(typed), typed);
  const Expr more = infer_type(call("nn.relu", {typed}));
  EXPECT_EQ(as<CallNode>(more)->args()[0], typed);

  IRModule module = module_from_expr(call("nn.relu", {var("x", tensor({2}))}));
  module = infer_types(module);
  const Function before = module->find("main");
  EXPECT_EQ(infer_types(module)->find("main"), before);
  EXPECT_TRUE(types_are_right(*module));
}

// A pass may give a type to a call over new arguments; trusting it would leave these untyped.
TEST_F(InferType, ATypeOverUntypedChildrenIsDropped) {
  const Type type = tensor({2});
  const Expr x = var("x", type), fresh = call("nn.relu", {x});
  const NodeInfo typed(OriginSet::none(), {}, type);
  EXPECT_FALSE(make_call(op_expr(*find_op("negative")), {fresh}, {}, typed)->checked_type());
  EXPECT_FALSE(make_tuple({x, fresh}, typed)->checked_type());
  EXPECT_FALSE(make_tuple_get_item(tuple({fresh}), 0, typed)->checked_type());
  EXPECT_FALSE(make_function({as_ref<VarNode>(x)}, fresh, {}, {}, typed)->checked_type());
  EXPECT_TRUE(make_call(op_expr(*find_op("negative")), {x}, {}, typed)->checked_type());
}

TEST_F(InferType, SharedNodesStayShared) {
  const Expr shared = call("nn.relu", {var("x", tensor({2}))});
  const Expr typed = infer_type(call("add", {shared, shared}));
  EXPECT_EQ(as<CallNode>(typed)->args()[0], as<CallNode>(typed)->args()[1]);
}

TEST_F(InferType, FillsHolesFromUses) {
  const Var x = var("x", tensor({1, 64})), w = var("w");
  const Expr dense = call("nn.dense", {x, w}, make_attrs(DenseAttrs{.units = 10, .out_dtype = {}}));
  const Expr typed = infer_type(Expr(function({x, w}, dense)));
  EXPECT_EQ(type_text(typed->checked_type()),
            "fn (Tensor[(1, 64), float32], Tensor[(10, 64), float32]) -> Tensor[(1, 10), float32]");
  const auto* f = as<FunctionNode>(typed);
  EXPECT_EQ(type_text(f->params()[1]->annotation()), "Tensor[(10, 64), float32]");
  EXPECT_EQ(type_text(f->ret_type()), "Tensor[(1, 10), float32]");
}

TEST_F(InferType, WaitsForWhatIsKnownLater) {
  // x is known only after the call of the function that uses it.
  const Var p = var("p"), x = var("x", tensor({2, 3}));
  const Function f = function({p}, call("nn.relu", {call("add", {p, p})}));
  EXPECT_EQ(inferred(call_expr(Expr(f), {x})), "Tensor[(2, 3), float32]");
  const Function item = function({p}, get_item(p, 1));
  EXPECT_EQ(inferred(call_expr(Expr(item), {tuple({x, call("nn.relu", {x})})})), "Tensor[(2, 3), float32]");
}

TEST_F(InferType, LetIfTupleAndClosures) {
  const Var a = var("a"), z = var("z", tensor({2})), c = var("c", scalar_type(DType::bool_()));
  EXPECT_EQ(inferred(let(a, Expr(scalar(1, DType::int_(32))), tuple({z, scalar(1.5, f32)}))),
            "(Tensor[(2), float32], float32)");
  EXPECT_EQ(inferred(let(a, z, call("nn.relu", {a}))), "Tensor[(2), float32]");
  EXPECT_EQ(inferred(if_else(c, z, call("nn.relu", {z}))), "Tensor[(2), float32]");
  EXPECT_EQ(inferred(if_else(c, var("d", dynamic({Dim::any()})), var("e", tensor({3})))),
            "Tensor[(?), float32]");
  EXPECT_EQ(inferred(get_item(tuple({z, c}), 1)), "bool");
  EXPECT_EQ(inferred(tuple({})), "()");
}

TEST_F(InferType, RecursiveClosure) {
  const Var f = var("f"), n = var("n", scalar_type(DType::int_(32)));
  const Expr one = scalar(1, DType::int_(32));
  const Expr body = if_else(call("equal", {n, one}), n, call_expr(f, {call("subtract", {n, one})}));
  EXPECT_EQ(inferred(let(f, Expr(function({n}, body)), call_expr(f, {one}))), "int32");
}

TEST_F(InferType, ModulesTypeFunctionsTogether) {
  IRModule module = make_module();
  const Var x = var("x", tensor({2})), y = var("y", tensor({2}));
  module->set("main", function({x}, call_expr(module->global_var("zed"), {x})));
  module->set("zed", function({y}, call("nn.relu", {y})));
  module = infer_types(module);
  EXPECT_EQ(type_text(module->find("main")->ret_type()), "Tensor[(2), float32]");
  EXPECT_TRUE(types_are_right(*module));
}

TEST_F(InferType, CallersOfAReplacedFunctionAreTypedAnew) {
  IRModule module = make_module();
  const Var x = var("x", tensor({2})), y = var("y", tensor({2}));
  module->set("main", function({x}, call_expr(module->global_var("f"), {x})));
  module->set("f", function({y}, call("nn.relu", {y})));
  module = infer_types(module);
  module->set("f", function({y}, tuple({y, y})));
  Function stale = module->find("main");
  module->set("main",
              with_attr(make_function(stale->params(), stale->body(), {}, {}, stale->info()), "Inline", 1));
  module = infer_types(module);
  EXPECT_EQ(type_text(module->find("main")->checked_type()),
            "fn (Tensor[(2), float32]) -> (Tensor[(2), float32], Tensor[(2), float32])");
  EXPECT_TRUE(types_are_right(*module));
}

TEST_F(InferType, Conv2D) {
  const Var d = var("d", tensor({1, 3, 32, 32})), w = var("w", tensor({8, 3, 3, 3}));
  auto conv = [&](Conv2DAttrs attrs, Expr data, Expr weight) {
    return inferred(call("nn.conv2d", {data, weight}, make_attrs(attrs)));
  };
  EXPECT_EQ(conv({}, d, w), "Tensor[(1, 8, 30, 30), float32]");
  EXPECT_EQ(conv({.padding = {1, 2}}, d, w), "Tensor[(1, 8, 32, 34), float32]");
  EXPECT_EQ(conv({.padding = {1, 2, 3, 4}}, d, w), "Tensor[(1, 8, 34, 36), float32]");
  EXPECT_EQ(conv({.strides = {2, 2}, .padding = {1}}, d, w), "Tensor[(1, 8, 16, 16), float32]");
  EXPECT_EQ(conv({.dilation = {2, 2}}, d, w), "Tensor[(1, 8, 28, 28), float32]");
  EXPECT_EQ(conv({.channels = 8, .kernel_size = {{3, 3}}}, d, var("v")), "Tensor[(1, 8, 30, 30), float32]");
  EXPECT_EQ(conv({.kernel_size = {{5, 5}}}, d, w), "E0217");
  EXPECT_EQ(conv({.channels = 9}, d, w), "E0217");
  EXPECT_EQ(conv({}, d, var("v", tensor({8, 4, 3, 3}))), "E0218");
  EXPECT_EQ(conv({.groups = 2}, var("d", tensor({1, 4, 8, 8})), var("v", tensor({8, 2, 3, 3}))),
            "Tensor[(1, 8, 6, 6), float32]");
  EXPECT_EQ(conv({.groups = 4, .channels = 8, .kernel_size = {{3, 3}}}, var("d", tensor({1, 4, 8, 8})),
                 var("v", tensor({4, 2, 3, 3}))),
            "Tensor[(1, 8, 6, 6), float32]");
  EXPECT_EQ(
      conv({.groups = 2, .channels = 8, .kernel_size = {{3, 3}}}, var("d", tensor({1, 4, 8, 8})), var("v")),
      "E0201");
  EXPECT_EQ(conv({.data_layout = "NHWC", .kernel_layout = "HWIO", .out_layout = "NCHW"},
                 var("d", tensor({1, 32, 32, 3})), var("v", tensor({3, 3, 3, 8}))),
            "Tensor[(1, 8, 30, 30), float32]");
  EXPECT_EQ(
      conv({.channels = 64, .kernel_size = {{3, 3}}, .data_layout = "NCHW4c", .kernel_layout = "OIHW4i16o"},
           var("d", tensor({1, 2, 8, 8, 4})), var("v", tensor({4, 2, 3, 3, 4, 16}))),
      "Tensor[(1, 16, 6, 6, 4), float32]");
  EXPECT_EQ(conv({.out_dtype = DType::int_(32)}, var("d", tensor({1, 3, 32, 32}, DType::int_(8))),
                 var("v", tensor({8, 3, 3, 3}, DType::int_(8)))),
            "Tensor[(1, 8, 30, 30), int32]");
  EXPECT_EQ(conv({}, var("d", dynamic({Dim::any(), 3, Dim::any(), 32})), w),
            "Tensor[(?, 8, ?, 30), float32]");
  EXPECT_EQ(conv({}, var("d", tensor({3, 32, 32})), w), "E0215");
  EXPECT_EQ(conv({.data_layout = "NCWQ"}, d, w), "E0219");
}

TEST_F(InferType, OneMistakeGivesOneError) {
  const Var x = var("x", tensor({3, 4})), y = var("y", tensor({3, 5}));
  const Expr wrong = call("add", {x, y});
  EXPECT_EQ(inferred(call("nn.relu", {call("multiply", {wrong, wrong})})), "E0214");
  EXPECT_EQ(inferred(tuple({wrong, call("add", {x, var("z", tensor({3, 4}, DType::int_(32)))})})),
            "E0214 E0213");
  EXPECT_EQ(inferred(call("nn.relu", {call("add", {var("a"), x})})), "E0201");
}

TEST_F(InferType, SaysWhatIsWrong) {
  const Var x = var("x", tensor({3, 4})), y = var("y", tensor({3, 5}));
  EXPECT_THAT(message(call("add", {x, y})),
              HasSubstr("cannot broadcast Tensor[(3, 4), float32] with Tensor[(3, 5), float32]"));
  EXPECT_THAT(message(call("add", {x, y})), HasSubstr("axis 1 must be equal on both sides"));
  EXPECT_THAT(message(call("nn.dense", {x, y})),
              HasSubstr("argument `weight` of `nn.dense` has type Tensor[(3, 5), float32], but "
                        "Tensor[(3, 4), float32] is needed"));
  EXPECT_THAT(message(call("nn.dense", {x, y})), HasSubstr("axis 1 is 5 on one side and 4 on the other"));
  EXPECT_THAT(message(call("add", {tuple({x}), y})),
              HasSubstr("`add` needs a tensor as `lhs`, got (Tensor[(3, 4), float32],)"));
  EXPECT_EQ(inferred(call("add", {x})), "E0204");
  EXPECT_EQ(inferred(call_expr(x, {y})), "E0205");
  EXPECT_EQ(inferred(get_item(tuple({x}), 1)), "E0206");
  EXPECT_EQ(inferred(get_item(x, 0)), "E0207");
  EXPECT_EQ(inferred(if_else(x, x, x)), "E0202");
  EXPECT_EQ(inferred(call_expr(Expr(function({x}, x)), {y})), "E0202");
  EXPECT_EQ(inferred(Expr(function({x}, x, tensor({9})))), "E0202");
  EXPECT_EQ(inferred(Expr(function({x, x}, x))), "E0209");
  EXPECT_EQ(inferred(call_expr(op_expr(*find_op("add")), {op_expr(*find_op("nn.relu")), x})), "E0212");
}

TEST_F(InferType, ModuleMistakes) {
  const Var x = var("x", tensor({3})), y = var("y", tensor({3}));
  IRModule module = make_module();
  module->set("main", function({x}, call("add", {x, y})));
  module->set("other", function({y}, call_expr(module->global_var("mainn"), {y})));
  const Function before = module->find("main");
  try {
    infer_types(module);
    FAIL();
  } catch (const DiagnosticError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean @main?"));
    EXPECT_EQ(error.diagnostics().size(), 1u);  // y is bound in @other
  }
  EXPECT_EQ(module->find("main"), before);
  EXPECT_THROW(infer_types(module_from_expr(Expr(function({x}, call("add", {x, y}))))), DiagnosticError);
}

TEST_F(InferType, PointsIntoTheText) {
  auto source = make_ref<const Source>("net.relay", "  add(%a, nn.relu(%b))");
  auto at = [&](uint32_t column, uint32_t end) { return Span{source, 1, column, 1, end}; };
  const Var a = var("a", tensor({3})), b = var("b", tensor({4}));
  EXPECT_EQ(message(call("add", {a, call("nn.relu", {b}, {}, at(11, 22))}, {}, at(3, 23))),
            "error[E0214]: cannot broadcast Tensor[(3), float32] with Tensor[(4), float32]\n"
            "  --> net.relay:1:3\n"
            "   |\n"
            " 1 |   add(%a, nn.relu(%b))\n"
            "   |   ^^^ --  ----------- Tensor[(4), float32]\n"
            "   |       |\n"
            "   |       Tensor[(3), float32]\n"
            " hint: axis 0 must be equal on both sides, or 1 on one of them\n");
}

TEST_F(InferType, AMillionCallsOnTheDefaultStack) {
  const Var x = var("x", tensor({1, 4}));
  Expr at = x;
  for (int i = 0; i < 1000000; ++i) at = call(i % 2 ? "nn.relu" : "negative", {at});
  IRModule module = module_from_expr(Expr(function({x}, at)));
  at = {};
  module = infer_types(module);
  EXPECT_EQ(type_text(module->find("main")->ret_type()), "Tensor[(1, 4), float32]");
}

TEST_F(InferType, ALongRowOfHolesIsSolvedInLinearTime) {
  const Var p = var("p");
  Expr at = p;
  for (int i = 0; i < 100000; ++i)
    at = call("nn.relu", {at});  // the type of each is the hole of the one before
  const Function f = function({p}, at);
  EXPECT_EQ(inferred(call_expr(Expr(f), {var("x", tensor({7}))})), "Tensor[(7), float32]");
}

}  // namespace
}  // namespace baton
