#include "baton/transform/fuse/fuse_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baton/codegen/backend.h"
#include "baton/ir/op.h"
#include "baton/ir/visit.h"
#include "baton/ops/register.h"
#include "baton/pass/origin_verifier.h"
#include "baton/text/parser.h"
#include "baton/transform/register.h"
#include "baton/types/infer_type.h"

namespace baton {
namespace {

using ::testing::ElementsAre;

class FuseOps : public ::testing::Test {
 protected:
  void SetUp() override {
    register_all_ops();
    register_all_passes();
    context->opt_level = 3;
    context->instruments = {std::make_shared<OriginVerifier>()};
  }

  static IRModule parse(const std::string& body) {
    return infer_types(parse_module("#[version = \"0.0.5\"]\ndef @main(" + body));
  }
  IRModule fuse(const IRModule& module, FusionLog* log = nullptr) {
    BuildContext under = host_context().with_passes(context);
    under.fusion_log = log;
    const InstrumentScope scope(context);
    return (*make_pass("FuseOps"))(module, under);
  }
  // "nn.conv2d: why" for each operator that is not fused with what uses it.
  std::vector<std::string> reasons(const IRModule& module) {
    std::vector<std::string> lines;
    for (const FusionReason& reason : fusion_reasons(module->find("main"), *context))
      lines.push_back(as<CallNode>(reason.call)->op()->name + ": " + reason.text);
    return lines;
  }
  const PassContextRef context = std::make_shared<PassContext>();
};

const char* kResult = "its value is needed by itself: as a result, in a let or branch, or by a function";

TEST_F(FuseOps, EveryRefusalHasAReason) {
  EXPECT_THAT(
      reasons(parse("%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 3, 3), float32]) {\n"
                    "%0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]);\n"
                    "%1 = nn.relu(%0);\n"
                    "%2 = nn.conv2d(%1, %w, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]);\n"
                    "nn.max_pool2d(%2, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0]) }")),
      ElementsAre("nn.relu: only elementwise operators of the same shape may follow it in its kernel",
                  "nn.conv2d: only elementwise operators of the same shape may follow it in its kernel",
                  std::string("nn.max_pool2d: ") + kResult));
}

TEST_F(FuseOps, UsersThatMeetInTheResultAreAReason) {
  EXPECT_THAT(reasons(parse("%x: Tensor[(3), float32]) { %0 = exp(%x); (log(%0), tanh(%0)) }")),
              ElementsAre("exp: its users meet in a tuple, which is no operator",
                          "log: its users meet in a tuple, which is no operator",
                          "tanh: its users meet in a tuple, which is no operator"));
}

TEST_F(FuseOps, DepthIsAReason) {
  context->config.set("relay.FuseOps.max_depth", int64_t{2});
  EXPECT_THAT(reasons(parse("%x: Tensor[(3), float32]) { exp(exp(exp(exp(%x)))) }")),
              ElementsAre("exp: the kernel would hold more operators than relay.FuseOps.max_depth",
                          std::string("exp: ") + kResult));
}

TEST_F(FuseOps, LevelZeroIsAReason) {
  context->opt_level = 0;
  EXPECT_THAT(reasons(parse("%x: Tensor[(3), float32]) { exp(%x) }")),
              ElementsAre("exp: fusion is off at level 0"));
}

TEST_F(FuseOps, WhatIsFusedSaysWithWhat) {
  FusionLog log;
  fuse(parse("%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 3, 3), float32], %b: Tensor[(4), "
             "float32]) {\n"
             "%0 = nn.relu(%x);\n"
             "%1 = nn.conv2d(%0, %w, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]);\n"
             "%2 = nn.bias_add(%1, %b);\n"
             "%3 = nn.conv2d(%0, %w, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]);\n"
             "add(%2, %3) }"),
       &log);
  std::vector<std::string> lines;
  for (const FusionLog::Entry& entry : log.entries())
    lines.push_back(entry.origins.origins()[0]->op() + (entry.fused ? " is fused: " : " is not: ") +
                    entry.text);
  EXPECT_THAT(lines,
              ElementsAre("nn.conv2d is fused: only elementwise operators follow, up to `nn.bias_add`",
                          "nn.bias_add is fused: its elements are made one by one, as `add` reads them",
                          "nn.relu is not: `nn.conv2d` takes its inputs from memory",
                          "nn.conv2d is not: `add` ends the kernel of another convolution or matrix product",
                          std::string("add is not: ") + kResult));
}

TEST_F(FuseOps, OnlyTheLogOfTheContextIsWrittenTo) {
  FusionLog given, other;
  fuse(parse("%x: Tensor[(3), float32]) { exp(%x) }"), &given);
  fuse(parse("%x: Tensor[(3), float32]) { exp(%x) }"));
  EXPECT_EQ(given.entries().size(), 1u);
  EXPECT_TRUE(other.entries().empty());
}

TEST_F(FuseOps, FunctionAndCallStandForTheOperatorsInside) {
  const IRModule module = parse("%x: Tensor[(3), float32]) { exp(log(%x)) }");
  const Function main = fuse(module)->find("main");
  const auto* call = as<CallNode>(main->body());
  const auto* function = as<FunctionNode>(call->callee());
  ASSERT_TRUE(function);
  std::vector<std::string> names;
  for (const Origin* origin : call->origins().origins()) names.push_back(origin->op());
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("exp", "log"));
  EXPECT_EQ(function->origins(), call->origins());
  EXPECT_TRUE(function->params()[0]->origins().empty());
}

TEST_F(FuseOps, NeedsTypes) {
  const IRModule untyped = parse_module("#[version = \"0.0.5\"]\ndef @main(%x: float32) { exp(log(%x)) }");
  EXPECT_THROW(fuse(untyped), Error);
}

// 2^20 operators in a chain, with a skip from each to the one after the next: paths overlap everywhere.
TEST_F(FuseOps, ALongLadderIsFusedInLinearTime) {
  const auto ladder = [](int length) {
    const Type row = tensor_type(std::vector<int64_t>{4}, DType::float_(32));
    const Var x = var("x", row);
    Expr before = call("exp", {x}), at = call("exp", {before});
    for (int i = 0; i < length; ++i) {
      Expr next = call("add", {at, before});
      before = std::move(at);
      at = std::move(next);
    }
    return infer_types(module_from_expr(Expr(function({x}, at))));
  };
  const IRModule fused = fuse(ladder(100'000));
  int kernels = 0;
  post_order(Expr(fused->find("main")), [&](const Expr& node) {
    const auto* function = as<FunctionNode>(node);
    if (!function || !function->is_primitive()) return;
    ++kernels;
    EXPECT_LE(function->origins().origins().size(), 256u);
  });
  EXPECT_GT(kernels, 100'000 / 256);
}

TEST_F(FuseOps, AMillionOperators) {
  const Type row = tensor_type(std::vector<int64_t>{4}, DType::float_(32));
  const Var x = var("x", row);
  Expr at = x;
  for (int i = 0; i < 1'000'000; ++i) at = call("exp", {at});
  const IRModule fused = fuse(infer_types(module_from_expr(Expr(function({x}, at)))));
  int kernels = 0;
  post_order(Expr(fused->find("main")), [&](const Expr& node) {
    const auto* function = as<FunctionNode>(node);
    kernels += function && function->is_primitive();
  });
  EXPECT_EQ(kernels, (1'000'000 + 255) / 256);
}

}  // namespace
}  // namespace baton
