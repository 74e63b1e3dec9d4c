// Gradients of long programs: linear, on a stack of 8 MB.
#include <chrono>
#include <functional>
#include <iostream>

#include <gtest/gtest.h>

#include "baton/codegen/backend.h"
#include "baton/ir/build.h"
#include "baton/ir/op.h"
#include "baton/transform/gradient/gradient.h"
#include "baton/types/infer_type.h"

#include "small_stack.h"
#include "transform/transform_test.h"

namespace baton {
namespace {

/// A chain of `length` calls, every tenth a sum with what came before the last one.
IRModule chain(int length) {
  named_pass("InferType");
  const Var x = var("x", scalar_type(DType::float_(32)));
  Expr before(x), at(x);
  for (int i = 0; i < length; ++i) {
    Expr next = i % 10 == 9 ? Expr(call("add", {at, before})) : Expr(call("tanh", {at}));
    before = std::exchange(at, std::move(next));
  }
  const IRModule module = make_module();
  module->set("main", function({x}, at));
  return infer_types(module);
}

enum class Way { kFirstOrder, kHigherOrder, kLazy };

/// Microseconds per call of the program.
double cost(Way way, int length) {
  const IRModule module = chain(length);
  const Pass lazy = named_pass("LazyGradientInit");
  const auto begin = std::chrono::steady_clock::now();
  IRModule result;
  if (way == Way::kLazy) {
    result = (*lazy)(module, host_context());
  } else {
    result = module->copy();
    result->replace(
        "main", gradient(result->find("main"), result,
                         way == Way::kFirstOrder ? GradientMode::kFirstOrder : GradientMode::kHigherOrder));
  }
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
  return took.count() / length;
}

void expect_linear(Way way, const char* name, int length) {
  double small = 1e9, large = 1e9;
  for (int i = 0; i < 3; ++i) small = std::min(small, cost(way, length / 10));
  for (int i = 0; i < 2; ++i) large = std::min(large, cost(way, length));
  std::cout << name << ": " << small << " us per call of " << length / 10 << ", " << large << " of " << length
            << "\n";
  EXPECT_LT(large, 4 * small);
}

TEST(GradientScale, IsLinear) {
  on_8_mb_stack([] {
    expect_linear(Way::kFirstOrder, "first order", 50'000);
    expect_linear(Way::kHigherOrder, "higher order", 10'000);
    expect_linear(Way::kLazy, "lazy", 50'000);
  });
}

TEST(GradientScale, SlowAMillionCalls) {
  on_8_mb_stack([] {
    std::cout << "first order: " << cost(Way::kFirstOrder, 1'000'000) << " us per call\n";
    std::cout << "lazy: " << cost(Way::kLazy, 1'000'000) << " us per call\n";
    // About fifty nodes for each of the program's.
    std::cout << "higher order: " << cost(Way::kHigherOrder, 300'000) << " us per call\n";
  });
}

}  // namespace
}  // namespace baton
