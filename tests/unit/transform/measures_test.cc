// Counts, parts of programs, variables bound: what relay.analysis asks for, and who stands for what when
// nobody is a pass.
#include "baton/ir/analysis/measures.h"

#include <gtest/gtest.h>

#include "baton/driver/initialize.h"
#include "baton/ir/analysis/call_graph.h"
#include "baton/ir/op.h"
#include "baton/ir/origin_scope.h"
#include "baton/ir/structural.h"
#include "baton/ir/visit.h"
#include "baton/support/error.h"
#include "baton/transform/bind.h"
#include "baton/transform/constant_value.h"
#include "baton/transform/extract.h"
#include "baton/transform/layout/alter_op_layout.h"

#include "transform/transform_test.h"

namespace baton {
namespace {

Var input(const std::string& name) {
  return var(name, tensor_type(std::vector<int64_t>{2, 3}, DType::float_(32)));
}

TEST(Measures, MultiplicationsOfSplitLayouts) {
  const IRModule module = typed_module(
      R"(def @main(%x: Tensor[(1, 2, 8, 8, 4), float32], %w: Tensor[(2, 2, 3, 3, 4, 4), float32]) {
  nn.contrib_conv2d_NCHWc(%x, %w, channels=8, kernel_size=[3, 3], data_layout="NCHW4c", kernel_layout="OIHW4i4o", out_layout="NCHW4c")
}
)");
  EXPECT_EQ(multiply_accumulates(Expr(module->find("main"))), 8 * 6 * 6 * 9 * 8);
  const IRModule split =
      typed_module(R"(def @main(%x: Tensor[(1, 2, 8, 8, 4), float32], %w: Tensor[(8, 8, 3, 3), float32]) {
  nn.conv2d(%x, %w, channels=8, kernel_size=[3, 3], data_layout="NCHW4c")
}
)");
  EXPECT_EQ(multiply_accumulates(Expr(split->find("main"))), 8 * 6 * 6 * 9 * 8);
}

TEST(Measures, ConvolutionsWithoutKernelSize) {
  const IRModule module =
      typed_module(R"(def @main(%x: Tensor[(1, 8, 8, 4), float32], %w: Tensor[(3, 5, 4, 6), float32]) {
  nn.conv2d(%x, %w, padding=[0, 0, 0, 0], data_layout="NHWC", kernel_layout="HWIO")
}
)");
  EXPECT_EQ(multiply_accumulates(Expr(module->find("main"))), 6 * 4 * 6 * 3 * 5 * 4);
}

// It was 0: no operator of packed layouts was counted.
TEST(Measures, AlterOpLayoutKeepsTheCount) {
  BuildContext wide;
  wide.sheets.emplace_back().float_lanes = 16;
  for (
      const auto& [op, text] : std::vector<std::pair<std::string, std::string>>{
          {"nn.contrib_conv2d_NCHWc",
           R"(def @main(%x: Tensor[(1, 3, 32, 32), float32], %w: Tensor[(64, 3, 7, 7), float32]) {
  nn.max_pool2d(nn.relu(nn.conv2d(%x, %w, padding=[3, 3, 3, 3], channels=64, kernel_size=[7, 7])), pool_size=[2, 2], strides=[2, 2])
})"},
          {"nn.contrib_conv2d_winograd_without_weight_transform",
           R"(def @main(%x: Tensor[(1, 64, 56, 56), float32], %w: Tensor[(64, 64, 3, 3), float32]) {
  nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=64, kernel_size=[3, 3])
})"},
          {"nn.contrib_depthwise_conv2d_NCHWc",
           R"(def @main(%x: Tensor[(1, 32, 8, 8), float32], %w: Tensor[(32, 1, 3, 3), float32], %d: Tensor[(64, 2048), float32]) {
  nn.dense(nn.batch_flatten(nn.conv2d(%x, %w, padding=[1, 1, 1, 1], groups=32, channels=32, kernel_size=[3, 3])), %d, units=64)
})"},
          {"nn.contrib_dense_pack",
           R"(def @main(%x: Tensor[(1, 32, 8, 8), float32], %w: Tensor[(32, 1, 3, 3), float32], %d: Tensor[(64, 2048), float32]) {
  nn.dense(nn.batch_flatten(nn.conv2d(%x, %w, padding=[1, 1, 1, 1], groups=32, channels=32, kernel_size=[3, 3])), %d, units=64)
})"}}) {
    const IRModule before = typed_module(text);
    const IRModule after = run_passes(
        before->copy(), {named_pass("CanonicalizeOps"), fast_layouts(), named_pass("InferType")}, 3, wide);
    EXPECT_NE(body_text(after).find(op), std::string::npos) << body_text(after);
    EXPECT_EQ(multiply_accumulates(Expr(after->find("main"))),
              multiply_accumulates(Expr(before->find("main"))))
        << op;
  }
}

TEST(Measures, LayersOfDeepPrograms) {
  initialize();
  Expr deep = input("x");
  for (int i = 0; i < 200'000; ++i) deep = Expr(call(i % 2 ? "exp" : "tanh", {deep}));
  EXPECT_EQ(count_layers(deep, {"exp"}), 100'000);
  EXPECT_TRUE(transposed_dense_weights(deep).empty());
  EXPECT_FALSE(is_constant_value(deep));
}

TEST(ConstantValue, TuplesMayBeSharedAndEmpty) {
  const auto pair = [](const Expr& field) {
    return Expr(make_tuple({field, field}, NodeInfo(OriginSet::none())));
  };
  const Expr nothing = make_tuple({}, NodeInfo(OriginSet::none()));
  Expr constants = scalar(1, DType::float_(32)), empty = nothing;
  for (int i = 0; i < 100; ++i) constants = pair(constants), empty = pair(empty);
  EXPECT_TRUE(is_value(constants) && is_constant_value(constants));
  EXPECT_TRUE(!is_value(empty) && is_constant_value(empty));
  EXPECT_FALSE(is_value(Expr(input("x"))));
}

TEST(Extract, ValuesByNumber) {
  initialize();
  const Var x = input("x");
  const Expr one = Expr(call("exp", {x}));
  const Expr pair = tuple({one, x});
  const IRModule module = module_from_expr(get_item(pair, 0));
  EXPECT_TRUE(structural_equal(*extract_value(*module, 0), *module_from_expr(one)));
  EXPECT_TRUE(structural_equal(*extract_value(*module, 1), *module_from_expr(pair)));
  EXPECT_TRUE(structural_equal(*extract_value(*module, 2), *module));
  EXPECT_THROW(extract_value(*module, 3), UsageError);
  EXPECT_THROW(extract_value(*module, -1), UsageError);
  EXPECT_THROW(extract_value(*make_module(), 0), UsageError);
}

TEST(Bind, NewVariablesBecomeParameters) {
  initialize();
  const Var x = input("x"), y = input("y"), z = input("z");
  const Function function = baton::function({x, y}, Expr(call("add", {x, y})));
  const Expr bound = bind_vars(Expr(function), {{y.get(), Expr(call("exp", {z}))}});
  EXPECT_EQ(as<FunctionNode>(bound)->params(), (std::vector<Var>{x, z}));
  EXPECT_EQ(bind_vars(Expr(function), {}), Expr(function));
  EXPECT_EQ(bind_vars(x, {{x.get(), Expr(z)}}), Expr(z));
  // What was free before stays free.
  const Function open = baton::function({x}, Expr(call("add", {x, y})));
  EXPECT_TRUE(as<FunctionNode>(bind_vars(Expr(open), {{x.get(), Expr(y)}}))->params().empty());
}

TEST(Calls, AreCounted) {
  initialize();
  const IRModule module = typed_module(R"(def @leaf(%x: float32) -> float32 { %x }
def @main(%x: float32) -> float32 { add(@leaf(%x), @leaf(@leaf(%x))) }
)");
  const CallGraph graph(*module);
  EXPECT_EQ(graph.references("leaf"), 1u);  // by one function
  EXPECT_EQ(graph.callees("main"), (std::set<std::string>{"leaf"}));
  EXPECT_TRUE(graph.callees("nobody").empty());
}

TEST(OriginPause, CallsAreTheUsersOwn) {
  initialize();
  const Var x = input("x");
  const Call first = call("exp", {x});
  const OriginScope scope(first->origins());
  EXPECT_EQ(call("tanh", {x})->origins(), first->origins());
  {
    const OriginPause pause;
    const Call own = call("tanh", {x});
    ASSERT_EQ(own->origins().origins().size(), 1u);
    EXPECT_EQ(own->origins().origins()[0]->op(), "tanh");
    const OriginScope inner(own->origins());
    EXPECT_EQ(call("exp", {x})->origins(), own->origins());
  }
  EXPECT_EQ(call("tanh", {x})->origins(), first->origins());
}

}  // namespace
}  // namespace baton
