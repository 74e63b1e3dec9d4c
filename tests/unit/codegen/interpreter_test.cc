#include "baton/codegen/evaluate/interpreter.h"

#include <chrono>
#include <cmath>
#include <limits>

#include <gmock/gmock.h>

#include "baton/codegen/backend.h"
#include "baton/codegen/evaluate/evaluator.h"
#include "baton/ir/visit.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

#include "codegen/kernels.h"

namespace baton {
namespace {

/// The one call of a module, with constants by the tensor rule for its parameters.
Call call_of(const std::string& text) {
  register_all_ops();
  const IRModule module = infer_types(parse_module("#[version = \"0.0.5\"]\n" + text));
  const Function main = module->find("main");
  std::vector<Expr> args;
  const auto* call = as<CallNode>(main->body());
  if (!call) call = as<CallNode>(as<TupleGetItemNode>(main->body())->tuple());
  for (const Expr& arg : call->args()) {
    const auto* type = as_type<TensorTypeNode>(arg->checked_type());
    const NDArray value =
        as<ConstantNode>(arg)
            ? as<ConstantNode>(arg)->value()
            : tensor_value(as<VarNode>(arg)->name(), type->extents(), type->dtype(),
                           type->dtype().is_float() ? ValueRange{0.1, 1} : ValueRange{0, 10});
    args.push_back(make_constant(value, test::typed({})));
  }
  return make_call(call->callee(), args, call->attrs(), test::typed(call->checked_type()));
}

class Operators : public testing::TestWithParam<const char*> {};

TEST_P(Operators, AreInterpretedAsTheyAreCompiled) {
  const Call call = call_of(GetParam());
  const auto interpreted = make_evaluator(EvaluateBy::kInterpreter)->evaluate(*call, host_context());
  const auto compiled = make_evaluator(EvaluateBy::kKernel)->evaluate(*call, host_context());
  ASSERT_EQ(interpreted.size(), compiled.size());
  for (size_t i = 0; i < compiled.size(); ++i)
    EXPECT_LE(test::largest_difference(interpreted[i], compiled[i]), 2e-5) << GetParam();
}

INSTANTIATE_TEST_SUITE_P(
    Interpreter, Operators,
    testing::Values(
        "def @main(%x: Tensor[(7, 5), float32]) { nn.relu(%x) }",
        "def @main(%x: Tensor[(300), float32]) { exp(%x) }",
        "def @main(%x: Tensor[(64), float32]) { rsqrt(%x) }",
        "def @main(%x: Tensor[(64), float32]) { tanh(%x) }",
        "def @main(%x: Tensor[(64), float32]) { negative(%x) }",
        "def @main(%x: Tensor[(), float32]) { sigmoid(%x) }",
        "def @main(%x: Tensor[(64), float32]) { reinterpret(%x, dtype=\"int32\") }",
        "def @main(%x: Tensor[(64), uint32]) { reinterpret(%x, dtype=\"float32\") }",
        "def @main(%x: Tensor[(64), float32]) { reinterpret(%x, dtype=\"uint32\") }",
        "def @main(%x: Tensor[(40), int32], %y: Tensor[(40), int32]) { left_shift(%x, %y) }",
        "def @main(%x: Tensor[(40), uint8], %y: Tensor[(40), uint8]) { right_shift(%x, %y) }",
        "def @main(%x: Tensor[(64), float64]) { reinterpret(%x, dtype=\"int64\") }",
        "def @main(%x: Tensor[(8, 3, 3, 3), float32], %y: Tensor[(8, 1, 1, 1), float32]) { multiply(%x, %y) "
        "}",
        "def @main(%x: Tensor[(64), float32]) { add(%x, 1e-5f) }",
        "def @main(%x: Tensor[(4, 6), int32], %y: Tensor[(6), int32]) { subtract(%x, %y) }",
        "def @main(%x: Tensor[(9, 130), float32]) { nn.softmax(%x) }",
        "def @main(%x: Tensor[(5, 40), float32], %w: Tensor[(7, 40), float32]) { nn.dense(%x, %w) }",
        "def @main(%x: Tensor[(1, 4, 9, 9), float32], %w: Tensor[(6, 4, 3, 3), float32]) { nn.conv2d(%x, %w, "
        "padding=[1, 1, 1, 1], channels=6, kernel_size=[3, 3]) }",
        "def @main(%x: Tensor[(1, 4, 9, 9), float32]) { nn.max_pool2d(%x, pool_size=[3, 3], strides=[2, 2], "
        "padding=[1, 1, 1, 1]) }",
        "def @main(%x: Tensor[(1, 4, 9, 9), float32]) { nn.avg_pool2d(%x, pool_size=[3, 3], strides=[2, 2], "
        "padding=[1, 1, 1, 1]) }",
        "def @main(%x: Tensor[(1, 4, 9, 9), float32]) { nn.global_avg_pool2d(%x) }",
        "def @main(%x: Tensor[(2, 3, 4, 5), float32]) { nn.batch_flatten(%x) }",
        "def @main(%w: Tensor[(16, 8, 3, 3), float32]) { nn.contrib_conv2d_winograd_weight_transform(%w, "
        "tile_size=4) }",
        "def @main(%x: Tensor[(1, 4, 9, 9), float32], %b: Tensor[(4), float32]) { nn.bias_add(%x, %b) }"));

// The bounds of their arguments must not replace NaN.
TEST(Interpreter, FunctionsOfNanAreNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const char* op : {"exp", "sigmoid", "tanh", "erf"}) {
    Call call = call_of("def @main(%x: Tensor[(2), float32]) { " + std::string(op) + "(%x) }");
    const Expr data = make_constant(NDArray::of<float>({2}, std::vector<float>{nan, 1.0f}, DType::float_(32)),
                                    test::typed({}));
    call = make_call(call->callee(), {data}, call->attrs(), test::typed(call->checked_type()));
    for (const EvaluateBy by : {EvaluateBy::kInterpreter, EvaluateBy::kKernel}) {
      const auto values = make_evaluator(by)->evaluate(*call, host_context());
      EXPECT_TRUE(std::isnan(values[0].as<float>()[0])) << op;
      EXPECT_FALSE(std::isnan(values[0].as<float>()[1])) << op;
    }
  }
}

TEST(Interpreter, FoldsALargeWeightFasterThanItCouldBeCompiled) {
  const Call call = call_of(
      "def @main(%x: Tensor[(256, 128, 3, 3), float32], %y: Tensor[(256, 1, 1, 1), float32]) { multiply(%x, "
      "%y) }");
  const auto evaluator = make_evaluator(EvaluateBy::kInterpreter);
  const auto start = std::chrono::steady_clock::now();
  const auto values = evaluator->evaluate(*call, host_context());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_LT(seconds, 1.0);  // 5 to 10 ms on an idle machine
  RecordProperty("microseconds", static_cast<int>(seconds * 1e6));
}

TEST(Evaluator, RefusesWhatIsNoConstant) {
  const Type type = test::f32({3});
  const Var x = test::param("x", type);
  EXPECT_THROW(make_evaluator()->evaluate(*as<CallNode>(test::op_call("nn.relu", {x}, type)), host_context()),
               NotSupported);
}

}  // namespace
}  // namespace baton
