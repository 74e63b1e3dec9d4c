// Factors of constants vanish in the weights, and take their origins there.
#include <gtest/gtest.h>

#include "baton/ir/visit.h"

#include "transform/transform_test.h"

namespace baton {
namespace {

/// The constants of main's body, in post-order.
std::vector<Constant> constants(const IRModule& module) {
  std::vector<Constant> found;
  post_order(module->find("main")->body(), [&](const Expr& node) {
    if (auto constant = as_ref<ConstantNode>(node)) found.push_back(constant);
  });
  return found;
}

TEST(FoldScaleAxis, BatchNormAfterConvGoesIntoTheWeight) {
  IRModule module = typed_module(
      R"(def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(6, 4, 3, 3), float32], %g: Tensor[(6), float32], %b: Tensor[(6), float32], %m: Tensor[(6), float32], %v: Tensor[(6), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=6, kernel_size=[3, 3]);
  %1 = nn.batch_norm(%0, %g, %b, %m, %v);
  nn.relu(%1.0)
})");
  const NDArray weight = [&] {
    const IRModule bound = bind_param(module, "w");
    return constants(bound).at(0)->value();
  }();
  for (const char* name : {"w", "g", "b", "m", "v"})
    module = bind_param(module, name, *name == 'w' || *name == 'b' || *name == 'm' ? -1 : 0.5,
                        1.5 - 0.5 * (*name == 'w'));
  module = run_passes(module, {named_pass("InferType"), named_pass("SimplifyInference"),
                               named_pass("FoldConstant"), named_pass("FoldScaleAxis")});
  EXPECT_EQ(
      body_text(module, true),
      R"(%0 = nn.conv2d(%x, meta[relay.Constant][0] /* from=4:8 */, padding=[1, 1, 1, 1], channels=6, kernel_size=[3, 3]) /* from=3:8 */;
%1 = add(%0, meta[relay.Constant][1] /* from=4:8 */) /* from=4:8 */;
nn.relu(%1) /* from=5:3 */
)");
  // The weight stands for the batch_norm that was folded into it, not for the convolution.
  const std::vector<Constant> found = constants(module);
  ASSERT_EQ(found.size(), 2u);
  for (const Constant& constant : found) {
    ASSERT_EQ(constant->origins().origins().size(), 1u);
    EXPECT_EQ(constant->origins().origins()[0]->op(), "nn.batch_norm");
  }
  EXPECT_EQ(found[0]->value().shape(), weight.shape());
}

TEST(FoldScaleAxis, PositiveFactorCrossesRelu) {
  IRModule module = typed_module(
      R"(def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(6, 4, 3, 3), float32], %s: Tensor[(6, 1, 1), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=6, kernel_size=[3, 3]);
  %1 = nn.relu(%0);
  multiply(%1, %s)
})");
  const std::vector<Pass> passes = {named_pass("InferType"), named_pass("FoldScaleAxis")};
  const IRModule positive = run_passes(bind_param(bind_param(module, "w"), "s", 0.5, 1.5), passes);
  EXPECT_EQ(
      body_text(positive),
      R"(%0 = nn.conv2d(%x, meta[relay.Constant][0], padding=[1, 1, 1, 1], channels=6, kernel_size=[3, 3]);
nn.relu(%0)
)");
  const IRModule mixed = run_passes(bind_param(bind_param(module, "w"), "s", -1, 1), passes);
  EXPECT_EQ(
      body_text(mixed),
      R"(%0 = nn.conv2d(%x, meta[relay.Constant][0], padding=[1, 1, 1, 1], channels=6, kernel_size=[3, 3]);
%1 = nn.relu(%0);
multiply(%1, meta[relay.Constant][1])
)");
}

TEST(FoldScaleAxis, ForwardThroughAddAndRelu) {
  IRModule module = typed_module(
      R"(def @main(%x: Tensor[(1, 4, 8, 8), float32], %s: Tensor[(4, 1, 1), float32], %b: Tensor[(4, 1, 1), float32], %w: Tensor[(6, 4, 3, 3), float32], %v: Tensor[(6, 4, 1, 1), float32]) {
  %0 = multiply(%x, %s);
  %1 = add(%0, %b);
  %2 = nn.relu(%1);
  %3 = nn.conv2d(%2, %w, padding=[1, 1, 1, 1], channels=6, kernel_size=[3, 3]);
  %4 = nn.conv2d(%2, %v, channels=6, kernel_size=[1, 1]);
  add(%3, %4)
})");
  module = bind_param(bind_param(bind_param(bind_param(module, "s", 0.5, 1.5), "b"), "w"), "v");
  module = run_passes(module, {named_pass("InferType"), named_pass("FoldScaleAxis")});
  EXPECT_EQ(body_text(module), R"(%0 = add(%x, meta[relay.Constant][0]);
%1 = nn.relu(%0);
%2 = nn.conv2d(%1, meta[relay.Constant][1], padding=[1, 1, 1, 1], channels=6, kernel_size=[3, 3]);
%3 = nn.conv2d(%1, meta[relay.Constant][2], channels=6, kernel_size=[1, 1]);
add(%2, %3)
)");
}

// x * 0 + b cannot become (x + b / 0) * 0.
TEST(FoldScaleAxis, ZeroFactorIsNotDividedBy) {
  IRModule module = typed_module(
      R"(def @main(%x: Tensor[(1, 4, 8, 8), float32], %s: Tensor[(4, 1, 1), float32], %b: Tensor[(4, 1, 1), float32], %w: Tensor[(6, 4, 1, 1), float32]) {
  %0 = multiply(%x, %s);
  %1 = add(%0, %b);
  nn.conv2d(%1, %w, channels=6, kernel_size=[1, 1])
})");
  module = bind_param(bind_param(bind_param(module, "s", 0, 0), "b"), "w");
  const std::string before = body_text(run_passes(module, {named_pass("InferType")}));
  EXPECT_EQ(body_text(run_passes(module, {named_pass("InferType"), named_pass("FoldScaleAxis")})), before);
}

}  // namespace
}  // namespace baton
