// Elementwise kernels with neighbouring axes as one.
#include "baton/codegen/kernel/join_axes.h"

#include <gtest/gtest.h>

#include "baton/codegen/backend.h"
#include "baton/codegen/compile.h"
#include "baton/driver/initialize.h"
#include "baton/ir/inspect.h"
#include "baton/pass/rewriter.h"
#include "baton/transform/fold_constant.h"
#include "baton/types/infer_type.h"

#include "codegen/fuzz/guarded_memory.h"
#include "codegen/kernels.h"
#include "transform/transform_test.h"

namespace baton {
namespace {

Function function_of(const std::string& text) {
  return typed_module("def @main(" + text + "\n}\n")->find("main");
}

/// The types of parameters and result after joining; "" where nothing was joined.
std::string joined_axes(const std::string& text) {
  const Function function = function_of(text), joined = join_axes(function);
  if (joined.get() == function.get()) return "";
  std::string all;
  const auto add = [&](const Type& type) {
    for (const int64_t extent : as_type<TensorTypeNode>(type)->extents()) all += std::to_string(extent) + " ";
  };
  for (const Var& param : joined->params()) {
    add(type_of(*param));
    all += "| ";
  }
  add(joined->body()->checked_type());
  return all;
}

std::string tensor(const std::string& name, const std::string& shape) {
  return "%" + name + ": Tensor[(" + shape + "), float32]";
}

TEST(JoinAxes, WhatEachTensorHasOrRepeatsIsOneAxis) {
  EXPECT_EQ(joined_axes(tensor("x", "1, 12, 5, 7, 8") + ", " + tensor("b", "1, 12, 1, 1, 8") +
                        ") {\n  nn.relu(add(%x, %b))"),
            "12 35 8 | 12 1 8 | 12 35 8 ");
  EXPECT_EQ(joined_axes(tensor("x", "1, 12, 5, 7, 8") + ") {\n  nn.relu(%x)"), "12 280 | 12 280 ")
      << "the first axis that is not 1 is the parallel one";
  EXPECT_EQ(joined_axes(tensor("x", "2, 3, 5, 7") + ", " + tensor("b", "3, 1, 1") + ") {\n  add(%x, %b)"),
            "2 3 35 | 3 1 | 2 3 35 ");
  EXPECT_EQ(joined_axes(tensor("x", "2, 3, 5, 7") + ", " + tensor("b", "") + ") {\n  add(%x, %b)"),
            "2 105 | | 2 105 ");
  EXPECT_EQ(joined_axes(tensor("x", "2, 1, 5, 7") + ", " + tensor("b", "2, 3, 1, 7") + ") {\n  add(%x, %b)"),
            "");
  EXPECT_EQ(joined_axes(tensor("x", "4, 9") + ") {\n  nn.relu(%x)"), "") << "nothing to join";
  EXPECT_EQ(joined_axes(tensor("x", "2, 0, 4") + ") {\n  nn.relu(%x)"), "") << "empty";
  EXPECT_EQ(joined_axes(tensor("x", "2, 65536, 65536") + ") {\n  nn.relu(%x)"), "")
      << "too long for one loop";
}

TEST(JoinAxes, AConcatenationKeepsItsAxis) {
  const std::string parts = tensor("x", "1, 3, 5, 7, 8") + ", " + tensor("y", "1, 2, 5, 7, 8");
  EXPECT_EQ(joined_axes(parts + ") {\n  concatenate((%x, %y), axis=1)"), "3 280 | 2 280 | 5 280 ");
  EXPECT_EQ(joined_axes(parts + ", " + tensor("b", "1, 5, 1, 1, 8") +
                        ") {\n  nn.relu(add(concatenate((%x, nn.relu(%y)), axis=-4), %b))"),
            "3 35 8 | 2 35 8 | 5 1 8 | 5 35 8 ");
  EXPECT_EQ(joined_axes(tensor("x", "2, 3, 5, 7") + ", " + tensor("y", "2, 3, 5, 1") +
                        ") {\n  concatenate((%x, %y), axis=3)"),
            "2 15 7 | 2 15 1 | 2 15 8 ");
}

TEST(JoinAxes, LeavesAloneWhatDependsOnThePosition) {
  const std::string x = tensor("x", "2, 3, 5, 7");
  EXPECT_NE(joined_axes(x + ") {\n  nn.relu(%x)"), "");
  EXPECT_EQ(joined_axes(x + ") {\n  nn.softmax(%x)"), "");
  EXPECT_EQ(joined_axes(x + ") {\n  trilu(%x, 1, upper=True)"), "")
      << "a triangle, though TVM says elementwise";
  EXPECT_EQ(joined_axes(x + ", " + tensor("b", "5") + ") {\n  nn.bias_add(%x, %b, axis=2)"), "");
  EXPECT_EQ(joined_axes(x + ") {\n  transpose(%x, axes=[0, 1, 3, 2])"), "");
  EXPECT_EQ(joined_axes(x + ") {\n  (nn.relu(%x), %x)"), "") << "a tuple";
}

/// Computes the function call by call, as constants are folded.
NDArray folded(const Function& function, const std::vector<NDArray>& inputs) {
  std::unordered_map<const ExprNode*, Expr> values;
  for (size_t i = 0; i < inputs.size(); ++i)
    values[function->params()[i].get()] = make_constant(inputs[i], NodeInfo(OriginSet::none()));
  const Expr body = infer_type(substitute(function->body(), values));
  return as<ConstantNode>(fold_constants(body, host_context()))->value();
}

void expect_kernel_matches(const Function& function, const std::string& text) {
  KernelRequest request;
  request.function = function;
  const JitKernel kernel = jit_kernel(request, DeviceSheet::host());
  const std::vector<NDArray> inputs = test::rule_inputs(function);
  std::vector<NDArray> all;
  for (const NDArray& input : inputs) {
    all.push_back(fuzz::guarded_copy(input, fuzz::GuardAt::kEnd));
    fuzz::protect(all.back());
  }
  const NDArray want = folded(function, inputs);
  all.push_back(fuzz::guarded_array(want.shape(), want.dtype(), fuzz::GuardAt::kEnd));
  ASSERT_EQ(test::call_kernel(kernel.function, all), 0);
  EXPECT_TRUE(fuzz::is_intact(all.back())) << text;
  EXPECT_EQ(test::largest_difference(all.back(), want), 0) << text;
}

TEST(JoinAxes, ComputesTheSame) {
  initialize();
  const std::string parts = tensor("x", "1, 3, 5, 7, 8") + ", " + tensor("y", "1, 2, 5, 7, 8");
  for (const std::string& text :
       {tensor("x", "1, 12, 5, 7, 8") + ", " + tensor("b", "1, 12, 1, 1, 8") + ") {\n  nn.relu(add(%x, %b))",
        tensor("x", "2, 3, 5, 7") + ", " + tensor("b", "3, 1, 1") + ") {\n  add(%x, nn.relu(%b))",
        tensor("x", "2, 3, 1, 7") + ", " + tensor("b", "2, 1, 1, 7") + ") {\n  multiply(add(%x, %b), %x)",
        parts + ") {\n  concatenate((%x, %y), axis=1)",
        parts + ", " + tensor("b", "1, 5, 1, 1, 8") +
            ") {\n  nn.relu(add(concatenate((%x, nn.relu(%y)), axis=-4), %b))",
        tensor("x", "2, 3, 5, 7") + ", " + tensor("y", "2, 3, 5, 1") +
            ") {\n  concatenate((%x, %y), axis=3)"}) {
    const Function function = function_of(text);
    ASSERT_NE(join_axes(function).get(), function.get()) << text;
    expect_kernel_matches(function, text);
  }
}

}  // namespace
}  // namespace baton
