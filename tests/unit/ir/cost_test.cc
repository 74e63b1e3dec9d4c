// What calls cost: by their blocks' `.cost`, or by their fusion class.
#include "baton/ir/rules/cost.h"

#include <gtest/gtest.h>

#include "baton/ir/visit.h"
#include "baton/ops/register.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

namespace baton {
namespace {

/// The cost of the call that is the body of main.
CostFacts cost(const std::string& params, const std::string& body) {
  register_all_ops();
  const IRModule module =
      infer_types(parse_module("#[version = \"0.0.5\"]\ndef @main(" + params + ") {\n  " + body + "\n}\n"));
  return cost_of_call(*as<CallNode>(module->find("main")->body()));
}

double flops(const std::string& params, const std::string& body) { return cost(params, body).flops; }

TEST(Cost, ConvolutionsCountTheirTaps) {
  const CostFacts grouped = cost("%x: Tensor[(1, 4, 5, 5), float32], %w: Tensor[(8, 2, 3, 3), float32]",
                                 "nn.conv2d(%x, %w, groups=2, channels=8, kernel_size=[3, 3])");
  EXPECT_EQ(grouped.flops, 2 * (8 * 3 * 3) * 9 * (4 / 2));
  EXPECT_EQ(grouped.bytes, 4 * (100 + 144 + 72));
  EXPECT_EQ(flops("%x: Tensor[(1, 2, 8, 8, 4), float32], %w: Tensor[(2, 2, 3, 3, 4, 4), float32]",
                  "nn.contrib_conv2d_NCHWc(%x, %w, channels=8, kernel_size=[3, 3], data_layout=\"NCHW4c\", "
                  "kernel_layout=\"OIHW4i4o\", out_layout=\"NCHW4c\")"),
            2 * (8 * 6 * 6) * 9 * 8);
  // Of the weight's type where kernel_size is not given.
  EXPECT_EQ(
      flops(
          "%x: Tensor[(1, 6, 6, 3), float32], %w: Tensor[(1, 1, 3, 5), float32]",
          "nn.conv2d(%x, %w, data_layout=\"NHWC\", kernel_layout=\"HWIO\", kernel_size=[1, 1], channels=5)"),
      2 * (6 * 6 * 5) * 3);
}

TEST(Cost, TransposedConvolutionsNeedNoChannels) {
  const std::string params = "%x: Tensor[(1, 3, 5, 5), float32], %w: Tensor[(3, 4, 3, 3), float32]";
  const double want = 2 * 75 * 9 * 4;
  EXPECT_EQ(
      flops(params, "nn.conv2d_transpose(%x, %w, channels=4, kernel_size=[3, 3], kernel_layout=\"IOHW\")"),
      want);
  EXPECT_EQ(flops(params, "nn.conv2d_transpose(%x, %w, kernel_layout=\"IOHW\")"), want);
}

TEST(Cost, GradientOfAWeightMeetsEachValueOfTheGradient) {
  EXPECT_EQ(flops("%g: Tensor[(1, 4, 6, 6), float32], %x: Tensor[(1, 3, 8, 8), float32]",
                  "nn.conv2d_backward_weight(%g, %x, channels=4, kernel_size=[3, 3])"),
            2 * (4 * 6 * 6) * (3 * 3 * 3));
}

TEST(Cost, ProductsCountWhatTheySumUp) {
  EXPECT_EQ(flops("%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]", "nn.dense(%x, %w, units=None)"),
            2 * 8 * 3);
  EXPECT_EQ(flops("%x: Tensor[(5, 3, 2), float32], %y: Tensor[(5, 3, 4), float32]",
                  "nn.batch_matmul(%x, %y, transpose_a=True)"),
            2 * (5 * 2 * 4) * 3);
}

TEST(Cost, SparseProductsCountWhatIsThere) {
  EXPECT_EQ(flops("%x: Tensor[(2, 4), float32], %d: Tensor[(3), float32], %i: Tensor[(3), int32], "
                  "%p: Tensor[(4), int32]",
                  "nn.sparse_dense(%x, %d, %i, %p)"),
            2 * 3 * 2);
}

TEST(Cost, WindowsCountTheirCells) {
  EXPECT_EQ(flops("%x: Tensor[(1, 2, 8, 8), float32]",
                  "nn.max_pool2d(%x, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0])"),
            (2 * 4 * 4) * 4);
  EXPECT_EQ(flops("%g: Tensor[(1, 2, 4, 4), float32], %x: Tensor[(1, 2, 8, 8), float32]",
                  "nn.max_pool2d_grad(%g, %x, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0])"),
            (2 * 4 * 4) * 4);
  EXPECT_EQ(flops("%x: Tensor[(1, 2, 8, 8), float32]", "nn.global_avg_pool2d(%x)"), 2 * 8 * 8);
}

TEST(Cost, OthersByTheirClass) {
  EXPECT_EQ(flops("%x: Tensor[(2, 3), float32]", "nn.relu(%x)"), 6);
  EXPECT_EQ(flops("%x: Tensor[(2, 3), float32], %y: Tensor[(3), float32]", "add(%x, %y)"), 6);
  EXPECT_EQ(flops("%x: Tensor[(2, 3), float32]", "transpose(%x, axes=[1, 0])"), 0);
  EXPECT_EQ(flops("%x: Tensor[(4, 3, 2), float32]", "sum(%x, axis=[0])"), 24);
  EXPECT_EQ(flops("%x: Tensor[(4, 10), float32]", "nn.softmax(%x)"), 40);
}

TEST(Cost, OfAFunctionItsParametersAndResults) {
  register_all_ops();
  const IRModule module = infer_types(parse_module(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32]) {
  nn.relu(exp(%x))
}
)"));
  const Function main = module->find("main");
  const CostFacts all = cost_of_function(*main, {{6, 48}, {6, 48}});
  EXPECT_EQ(all.flops, 12);
  EXPECT_EQ(all.bytes, 48);  // what lies between the calls is not moved
}

}  // namespace
}  // namespace baton
