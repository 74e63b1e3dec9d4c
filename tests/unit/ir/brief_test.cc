// Short descriptions of calls, and of the kernels that compute them.
#include "baton/ir/rules/brief.h"

#include <gmock/gmock.h>

#include "baton/driver/initialize.h"
#include "baton/ir/op.h"
#include "baton/ir/visit.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

namespace baton {
namespace {

// The last call of `main(%x: ..., %y: ...) { body }`.
std::string brief(const std::string& params, const std::string& body) {
  initialize();
  const IRModule module =
      infer_types(parse_module("#[version = \"0.0.5\"]\ndef @main(" + params + ") {\n  " + body + "\n}\n"));
  std::string text;
  post_order(module->find("main")->body(), [&](const Expr& expr) {
    const auto* call = as<CallNode>(expr);
    if (call && call->op()) text = brief_of_call(*call);
  });
  return text;
}

std::string conv(const std::string& data, const std::string& weight, const std::string& attrs,
                 const std::string& op = "nn.conv2d") {
  return brief("%x: Tensor[(" + data + "), float32], %w: Tensor[(" + weight + "), float32]",
               op + "(%x, %w, " + attrs + ")");
}

TEST(Brief, OfConvolutions) {
  EXPECT_EQ(conv("1, 64, 56, 56", "64, 64, 3, 3", "padding=[1, 1, 1, 1], channels=64, kernel_size=[3, 3]"),
            "conv2d 3x3 64->64 @56");
  EXPECT_EQ(conv("8, 3, 224, 200", "64, 3, 7, 7", "strides=[2, 2], channels=64, kernel_size=[7, 7]"),
            "conv2d 7x7/2 3->64 @224x200 x8");
  EXPECT_EQ(conv("1, 32, 14, 14", "32, 1, 3, 3", "groups=32, channels=32, kernel_size=[3, 3]"),
            "conv2d 3x3 depthwise 32 @14");
  EXPECT_EQ(conv("1, 32, 14, 14", "64, 8, 1, 1", "groups=4, channels=64, kernel_size=[1, 1]"),
            "conv2d 1x1 32->64 groups=4 @14");
  EXPECT_EQ(conv("1, 8, 14, 14", "8, 8, 3, 3", "dilation=[2, 2], channels=8, kernel_size=[3, 3]"),
            "conv2d 3x3 8->8 dilated=2 @14");
  EXPECT_EQ(conv("1, 14, 14, 8", "1, 7, 8, 4", "data_layout=\"NHWC\", kernel_layout=\"HWIO\""),
            "conv2d 1x7 8->4 @14")
      << "the window from the weight";
  EXPECT_EQ(conv("1, 8, 20", "4, 8, 3", "channels=4, kernel_size=[3]", "nn.conv1d"), "conv1d 3 8->4 @20");
  EXPECT_EQ(conv("1, 8, 4, 9, 9", "4, 8, 1, 3, 3", "channels=4, kernel_size=[1, 3, 3]", "nn.conv3d"),
            "conv3d 1x3x3 8->4 @4x9x9");
  EXPECT_EQ(
      conv("1, 8, 4, 4", "8, 6, 4, 4",
           "strides=[2, 2], channels=6, kernel_size=[4, 4], kernel_layout=\"IOHW\"", "nn.conv2d_transpose"),
      "conv2d_transpose 4x4/2 8->6 @4");
}

TEST(Brief, OfProductsAndWindows) {
  EXPECT_EQ(conv("1, 512", "1000, 512", "units=1000", "nn.dense"), "dense 512->1000");
  EXPECT_EQ(conv("32, 512", "10, 512", "units=10", "nn.dense"), "dense 512->10 x32");
  EXPECT_EQ(brief("%x: Tensor[(12, 64, 128), float32], %y: Tensor[(12, 32, 128), float32]",
                  "nn.batch_matmul(%x, %y, transpose_b=True)"),
            "batch_matmul 64x128x32 x12");
  const std::string image = "%x: Tensor[(1, 64, 112, 112), float32]";
  EXPECT_EQ(brief(image, "nn.max_pool2d(%x, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1])"),
            "max_pool2d 3x3/2 64 @112");
  EXPECT_EQ(brief(image, "nn.global_avg_pool2d(%x)"), "global_avg_pool2d 64 @112");
}

TEST(Brief, OfOthersIsTheShapeOfTheResult) {
  EXPECT_EQ(brief("%x: Tensor[(2, 3), float32]", "nn.relu(%x)"), "relu 2x3");
  EXPECT_EQ(brief("%x: float32", "exp(%x)"), "exp") << "a scalar has no sizes";
  EXPECT_EQ(brief("%x: Tensor[(?, 3), float32]", "exp(%x)"), "exp ?x3");
  EXPECT_EQ(brief("%x: Tensor[(0, 3), float32]", "exp(%x)"), "exp 0x3");
}

TEST(Brief, UnknownExtentsOfAConvolution) {
  EXPECT_EQ(conv("?, 64, ?, 56", "64, 64, 3, 3", "channels=64, kernel_size=[3, 3]"),
            "conv2d 3x3 64->64 @?x56 x?");
}

TEST(Brief, OfAFunctionNamesAllItsCalls) {
  initialize();
  const IRModule module = infer_types(
      parse_module("#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(2, 3), float32]) { nn.relu(exp(%x)) }\n"));
  EXPECT_EQ(brief_of_function(*module->find("main")), "exp 2x3 + relu 2x3");
}

// An operator without types, as in a program that was not checked.
TEST(Brief, WithoutTypesIsTheName) {
  initialize();
  const Call untyped = call("nn.relu", {var("x")});
  EXPECT_EQ(brief_of_call(*untyped), "relu");
}

}  // namespace
}  // namespace baton
