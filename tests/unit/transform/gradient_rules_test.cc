// The gradient of every operator against finite differences, in float64: the derivative along a random
// direction is (f(x + h d) - f(x - h d)) / 2h, and <gradient, d>. Results are weighted, so that no two of
// their elements count the same.
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "baton/driver/initialize.h"
#include "baton/ir/build.h"
#include "baton/ir/op.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/text/parser.h"
#include "baton/transform/gradient/gradient.h"
#include "baton/types/infer_type.h"

#include "transform/program_interpreter.h"

namespace baton::run {
namespace {

struct Case {
  const char* params;  ///< `%x: Tensor[(2, 3), float64]`
  const char* body;
  double low = 0.2, high = 0.9;  ///< of floats
  friend std::ostream& operator<<(std::ostream& out, const Case& one) { return out << one.body; }
};

// Shapes that broadcast, axes from the back, all flags that a rule looks at.
const Case kCases[] = {
    {"%x: Tensor[(2, 3), float64]", "abs(%x)", -1, 1},
    {"%x: Tensor[(7), float64]", "acos(%x)"},
    {"%x: Tensor[(7), float64]", "acosh(%x)", 1.2, 3},
    {"%x: Tensor[(2, 3), float64], %y: Tensor[(3), float64]", "add(%x, %y)"},
    {"%x: Tensor[(2, 1), float64], %y: Tensor[(4, 1, 3), float64]", "add(%x, %y)"},
    {"%x: Tensor[(7), float64]", "asin(%x)"},
    {"%x: Tensor[(7), float64]", "asinh(%x)", -2, 2},
    {"%x: Tensor[(7), float64]", "atan(%x)", -2, 2},
    {"%x: Tensor[(7), float64]", "atanh(%x)"},
    {"%x: Tensor[(7), float64]", "annotation.checkpoint(%x)"},
    {"%x: Tensor[(4), float64]", "cast(%x, dtype=\"float64\")"},
    {"%x: Tensor[(4), float64], %y: Tensor[(2), float64]", "cast_like(%x, %y)"},
    {"%x: Tensor[(9), float64]", "clip(%x, a_min=-0.5f, a_max=0.5f)", -1, 1},
    {"%x: Tensor[(2, 3), float64], %y: Tensor[(3), float64]", "collapse_sum_like(%x, %y)"},
    {"%x: Tensor[(2, 3), float64], %y: Tensor[(2, 1), float64]", "concatenate((%x, %y), axis=-1)"},
    {"%x: Tensor[(1, 3), float64], %y: Tensor[(2, 3), float64]", "concatenate((%x, %y, %x))"},
    {"%x: Tensor[(4), float64]", "copy(%x)"},
    {"%x: Tensor[(7), float64]", "cos(%x)", -2, 2},
    {"%x: Tensor[(7), float64]", "cosh(%x)", -2, 2},
    {"%x: Tensor[(2, 3), float64], %y: Tensor[(2, 1), float64]", "divide(%x, %y)"},
    {"%x: Tensor[(7), float64]", "erf(%x)", -1, 1},
    {"%x: Tensor[(7), float64]", "exp(%x)", -1, 1},
    {"%x: Tensor[(2, 3), float64]", "expand_dims(%x, axis=1, num_newaxis=2)"},
    {"%x: Tensor[(2, 3), float64]", "expand_dims(%x, axis=-1)"},
    {"%x: Tensor[(3, 4), float64], %i: Tensor[(2, 5), int32]", "gather_nd(%x, %i)"},
    {"%x: Tensor[(3, 4), float64], %i: Tensor[(1, 5), int32]", "gather_nd(%x, %i)"},
    {"%x: Tensor[(7), float64]", "log(%x)"},
    {"%x: Tensor[(7), float64]", "log10(%x)"},
    {"%x: Tensor[(7), float64]", "log2(%x)"},
    {"%x: Tensor[(2, 5), float64]", "max(%x, axis=[1])"},
    {"%x: Tensor[(2, 5), float64]", "max(%x, axis=[-1], keepdims=True)"},
    {"%x: Tensor[(2, 5), float64]", "max(%x)"},
    {"%x: Tensor[(2, 3, 4), float64]", "mean(%x, axis=[0, -1])"},
    {"%x: Tensor[(2, 3, 4), float64]", "mean(%x, axis=[1], exclude=True, keepdims=True)"},
    {"%x: Tensor[(2, 3), float64]", "mean(%x)"},
    {"%x: Tensor[(2, 3), float64], %y: Tensor[(), float64]", "multiply(%x, %y)"},
    {"%x: Tensor[(4), float64]", "multiply(%x, %x)"},
    {"%x: Tensor[(4), float64]", "negative(%x)"},
    {"%x: Tensor[(1, 2, 5, 6), float64]",
     "nn.avg_pool2d(%x, pool_size=[2, 3], strides=[2, 1], padding=[1, 0, 1, 1])"},
    {"%x: Tensor[(1, 2, 5, 6), float64]",
     "nn.avg_pool2d(%x, pool_size=[2, 3], padding=[1, 1, 1, 1], count_include_pad=True)"},
    {"%x: Tensor[(2, 3, 2), float64]", "nn.batch_flatten(%x)"},
    {"%x: Tensor[(2, 3, 4), float64], %y: Tensor[(2, 4, 5), float64]", "nn.batch_matmul(%x, %y)"},
    {"%x: Tensor[(2, 3, 4), float64], %y: Tensor[(2, 5, 4), float64]",
     "nn.batch_matmul(%x, %y, transpose_b=True)"},
    {"%x: Tensor[(2, 4, 3), float64], %y: Tensor[(2, 4, 5), float64]",
     "nn.batch_matmul(%x, %y, transpose_a=True)"},
    {"%x: Tensor[(2, 4, 3), float64], %y: Tensor[(2, 5, 4), float64]",
     "nn.batch_matmul(%x, %y, transpose_a=True, transpose_b=True)"},
    {"%x: Tensor[(1, 3, 4), float64], %y: Tensor[(2, 5, 4), float64]",
     "nn.batch_matmul(%x, %y, transpose_b=True)"},
    {"%x: Tensor[(2, 3, 4), float64], %y: Tensor[(3), float64]", "nn.bias_add(%x, %y)"},
    {"%x: Tensor[(2, 3, 4), float64], %y: Tensor[(4), float64]", "nn.bias_add(%x, %y, axis=-1)"},
    {"%x: Tensor[(2, 3, 6, 5), float64], %w: Tensor[(4, 3, 3, 2), float64]",
     "nn.conv2d(%x, %w, padding=[1, 0, 1, 1], kernel_size=[3, 2])"},
    {"%x: Tensor[(1, 2, 8, 7), float64], %w: Tensor[(3, 2, 3, 3), float64]",
     "nn.conv2d(%x, %w, strides=[2, 3], padding=[1, 1, 1, 1], kernel_size=[3, 3], channels=3)"},
    {"%x: Tensor[(1, 2, 8, 7), float64], %w: Tensor[(3, 2, 2, 2), float64]",
     "nn.conv2d(%x, %w, dilation=[2, 3], kernel_size=[2, 2])"},
    {"%x: Tensor[(1, 4, 4, 4), float64], %w: Tensor[(6, 2, 3, 3), float64]",
     "nn.conv2d(%x, %w, padding=[1, 1], groups=2, kernel_size=[3, 3], channels=6)"},
    {"%x: Tensor[(1, 4, 4, 4), float64], %w: Tensor[(4, 1, 3, 3), float64]",
     "nn.conv2d(%x, %w, padding=[1, 1], groups=4, kernel_size=[3, 3], channels=4)"},
    {"%x: Tensor[(2, 5), float64], %y: Tensor[(2, 5), float64]", "nn.cross_entropy(%x, %y)"},
    {"%x: Tensor[(2, 5), float64], %y: Tensor[(2, 5), float64]", "nn.cross_entropy_with_logits(%x, %y)"},
    {"%x: Tensor[(2, 5), float64], %w: Tensor[(3, 5), float64]", "nn.dense(%x, %w)"},
    {"%x: Tensor[(2, 3, 5), float64], %w: Tensor[(4, 5), float64]", "nn.dense(%x, %w, units=4)"},
    {"%x: Tensor[(1, 2, 3, 4), float64]", "nn.global_avg_pool2d(%x)"},
    {"%x: Tensor[(2, 5), float64]", "nn.log_softmax(%x)"},
    {"%x: Tensor[(2, 4), float64], %y: Tensor[(4, 3), float64]", "nn.matmul(%x, %y)"},
    {"%x: Tensor[(2, 4), float64], %y: Tensor[(3, 4), float64]",
     "nn.matmul(%x, %y, units=None, transpose_b=True)"},
    {"%x: Tensor[(4, 2), float64], %y: Tensor[(4, 3), float64]",
     "nn.matmul(%x, %y, units=None, transpose_a=True)"},
    {"%x: Tensor[(4, 2), float64], %y: Tensor[(3, 4), float64]",
     "nn.matmul(%x, %y, units=None, transpose_a=True, transpose_b=True)"},
    {"%x: Tensor[(1, 2, 5, 6), float64]",
     "nn.max_pool2d(%x, pool_size=[3, 2], strides=[2, 2], padding=[1, 1, 1, 1])"},
    {"%x: Tensor[(9), float64]", "nn.relu(%x)", -1, 1},
    {"%x: Tensor[(2, 5), float64]", "nn.softmax(%x)"},
    {"%x: Tensor[(3, 2, 2), float64]", "nn.softmax(%x, axis=0)"},
    {"%i: Tensor[(3), int32], %x: Tensor[(), float64], %y: Tensor[(), float64]",
     "one_hot(%i, %x, %y, depth=4, axis=-1, dtype=\"float64\")"},
    {"%x: Tensor[(2, 3, 4), float64]", "reshape(%x, newshape=[4, -1])"},
    {"%x: Tensor[(2, 3), float64], %y: Tensor[(6), float64]", "reshape_like(%x, %y)"},
    {"%x: Tensor[(7), float64]", "sigmoid(%x)", -2, 2},
    {"%x: Tensor[(7), float64]", "sin(%x)", -2, 2},
    {"%x: Tensor[(7), float64]", "sinh(%x)", -2, 2},
    {"%x: Tensor[(7), float64]", "sqrt(%x)"},
    {"%x: Tensor[(2, 1, 3, 1), float64]", "squeeze(%x)"},
    {"%x: Tensor[(2, 1, 3, 1), float64]", "squeeze(%x, axis=[-1])"},
    {"%x: Tensor[(2, 3), float64], %y: Tensor[(2, 3), float64]", "stack((%x, %y), axis=1)"},
    {"%x: Tensor[(2, 3), float64], %y: Tensor[(2, 3), float64]", "stack((%x, %y, %x), axis=-1)"},
    {"%x: Tensor[(5, 6), float64]", "strided_slice(%x, begin=[1, 0], end=[4, 6], strides=[1, 2], axes=None)"},
    {"%x: Tensor[(5, 6), float64]", "strided_slice(%x, begin=[-3], end=[5], strides=[1], axes=None)"},
    {"%x: Tensor[(5, 6), float64]",
     "strided_slice(%x, begin=[1, 2], end=[2, -1], strides=[1], slice_mode=\"size\", axes=None)"},
    {"%x: Tensor[(5, 6), float64]", "strided_slice(%x, begin=[4], end=[0], strides=[-2], axes=[1])"},
    {"%x: Tensor[(2, 3), float64], %y: Tensor[(2, 1), float64]", "subtract(%x, %y)"},
    {"%x: Tensor[(2, 3, 4), float64]", "sum(%x, axis=[1])"},
    {"%x: Tensor[(2, 3, 4), float64]", "sum(%x, axis=[0, 2], keepdims=True)"},
    {"%x: Tensor[(2, 3, 4), float64]", "sum(%x, axis=[0], exclude=True)"},
    {"%x: Tensor[(2, 3), float64]", "sum(%x)"},
    {"%x: Tensor[(3, 2), float64], %i: Tensor[(4), int32]", "take(%x, %i, axis=0)"},
    {"%x: Tensor[(2, 3, 4), float64], %i: Tensor[(2, 3), int64]", "take(%x, %i, axis=1)"},
    {"%x: Tensor[(2, 3, 4), float64], %i: Tensor[(), int32]", "take(%x, %i, axis=-1)"},
    {"%x: Tensor[(2, 3), float64], %i: Tensor[(5), int32]", "take(%x, %i)"},
    {"%x: Tensor[(7), float64]", "tan(%x)"},
    {"%x: Tensor[(7), float64]", "tanh(%x)", -2, 2},
    {"%x: Tensor[(2, 3, 4), float64]", "transpose(%x)"},
    {"%x: Tensor[(2, 3, 4), float64]", "transpose(%x, axes=[1, -1, 0])"},
    {"%x: Tensor[(2, 3), float64], %m: Tensor[(2, 1), float64]", "variance(%x, %m, axis=[1], keepdims=True)"},
    {"%x: Tensor[(2, 3), float64], %m: Tensor[(1, 1), float64]", "variance(%x, %m, unbiased=True)"},
    {"%c: Tensor[(2, 3), bool], %x: Tensor[(2, 3), float64], %y: Tensor[(3), float64]", "where(%c, %x, %y)"},
};

// Zeros whatever the arguments are, or not to be had as float64: asked for their shapes only.
const std::set<std::string> kConstant = {"zeros",         "ones",        "zeros_like", "ones_like",
                                         "shape_of",      "dyn.zeros",   "dyn.ones",   "equal",
                                         "not_equal",     "less",        "less_equal", "greater",
                                         "greater_equal", "logical_and", "logical_or", "logical_xor"};
// The same rules as others here, but results whose shapes are not known before, or that cannot be written as
// text.
const std::set<std::string> kAsOthers = {"dyn.reshape", "contrib_reverse_reshape", "collapse_sum_to",
                                         "arange"};

/// The function of a case: sum of (body * weights), with the weights as last parameter.
IRModule weighted(const Case& one) {
  initialize();
  const IRModule module = infer_types(parse_module("#[version = \"0.0.5\"]\ndef @main(" +
                                                   std::string(one.params) + ") { " + one.body + " }"));
  const Function main = module->find("main");
  const Var weights = var("weights", main->body()->checked_type());
  std::vector<Var> params = main->params();
  params.push_back(weights);
  const IRModule result = make_module();
  result->set("main", function(params, Expr(call("multiply", {main->body(), Expr(weights)}))));
  return infer_types(result);
}

NDArray argument(const Var& param, const Case& one) {
  const auto& type = *as_type<TensorTypeNode>(param->checked_type());
  // Indices: inside every axis of these cases.
  const ValueRange range = type.dtype().is_float() ? ValueRange{one.low, one.high} : ValueRange{0, 3};
  return tensor_value(param->name() + one.body, type.extents(), type.dtype(), range);
}

double total(const NDArray& array) {
  double sum = 0;
  for (const double x : array.as<double>()) sum += x;
  return sum;
}

double value_at(const IRModule& module, const std::vector<NDArray>& args) {
  std::vector<Value> values;
  for (const NDArray& arg : args) values.push_back(tensor(arg));
  return total(interpret(module, "main", values).array);
}

std::vector<NDArray> gradients_of(const IRModule& module, GradientMode mode,
                                  const std::vector<NDArray>& args) {
  const IRModule differentiated = module->copy();
  differentiated->set("main", gradient(differentiated->find("main"), differentiated, mode));
  infer_types(differentiated);
  std::vector<Value> values;
  for (const NDArray& arg : args) values.push_back(tensor(arg));
  std::vector<NDArray> gradients;
  const Value result = interpret(differentiated, "main", values);
  for (const Value& each : result.fields.at(1).fields) gradients.push_back(each.array);
  return gradients;
}

void expect_as_finite_differences(const IRModule& module, const std::vector<NDArray>& args,
                                  const std::vector<NDArray>& gradients) {
  constexpr double h = 1e-5;
  for (size_t at = 0; at < args.size(); ++at) {
    ASSERT_EQ(gradients[at].shape(), args[at].shape());
    if (!args[at].dtype().is_float()) continue;
    const NDArray direction = tensor_value("direction", args[at].shape(), args[at].dtype());
    double expected = 0, slope = 0;
    for (const double sign : {1.0, -1.0}) {
      std::vector<NDArray> moved = args;
      moved[at] = args[at].copy();
      for (size_t i = 0; i < direction.as<double>().size(); ++i)
        moved[at].as<double>()[i] += sign * h * direction.as<double>()[i];
      slope += sign * value_at(module, moved) / (2 * h);
    }
    for (size_t i = 0; i < direction.as<double>().size(); ++i)
      expected += gradients[at].as<double>()[i] * direction.as<double>()[i];
    EXPECT_NEAR(slope, expected, 1e-6 * (1 + std::fabs(expected))) << "parameter " << at;
  }
}

void expect_gradients(const Case& one) {
  const IRModule module = weighted(one);
  std::vector<NDArray> args;
  for (const Var& param : module->find("main")->params()) args.push_back(argument(param, one));
  const std::vector<NDArray> first = gradients_of(module, GradientMode::kFirstOrder, args);
  expect_as_finite_differences(module, args, first);
  const std::vector<NDArray> higher = gradients_of(module, GradientMode::kHigherOrder, args);
  ASSERT_EQ(first.size(), higher.size());
  for (size_t i = 0; i < first.size(); ++i) EXPECT_TRUE(first[i].equal_bytes(higher[i])) << "parameter " << i;
}

class GradientRules : public testing::TestWithParam<Case> {};

TEST_P(GradientRules, AreWhatFiniteDifferencesSay) { expect_gradients(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Operators, GradientRules, testing::ValuesIn(kCases));

TEST(AllGradientRules, AreTested) {
  initialize();
  std::set<std::string> tested = kConstant;
  tested.insert(kAsOthers.begin(), kAsOthers.end());
  for (const Case& one : kCases)
    tested.insert(std::string(one.body).substr(0, std::string(one.body).find('(')));
  for (const OpDef* op : all_ops())
    EXPECT_EQ(op->rules.get<GradientRule>() != nullptr, tested.count(op->name) > 0) << op->name;
}

}  // namespace
}  // namespace baton::run
