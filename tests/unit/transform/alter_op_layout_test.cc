// Layouts: what AlterOpLayout chooses on a machine of 16 lanes, and how layouts spread.
#include "baton/transform/layout/alter_op_layout.h"

#include <set>

#include <gmock/gmock.h>

#include "baton/ir/op.h"
#include "baton/ir/rules/layout_rule.h"
#include "baton/ops/register.h"

#include "transform/transform_test.h"

namespace baton {
namespace {

std::string altered(const std::string& program, bool origins = false) {
  BuildContext wide;
  wide.sheets.emplace_back().float_lanes = 16;
  return body_text(
      run_passes(typed_module(program), {named_pass("CanonicalizeOps"), fast_layouts()}, 3, wide), origins);
}

TEST(AlterOpLayout, FirstConvolutionReadsThreeChannels) {
  EXPECT_EQ(
      altered(
          R"(def @main(%x: Tensor[(1, 3, 32, 32), float32], %c: Tensor[(3, 1, 1), float32], %w: Tensor[(64, 3, 7, 7), float32], %b: Tensor[(64), float32]) {
  %0 = add(%x, %c);
  %1 = nn.conv2d(%0, %w, padding=[3, 3, 3, 3], channels=64, kernel_size=[7, 7]);
  %2 = nn.bias_add(%1, %b);
  %3 = nn.relu(%2);
  nn.max_pool2d(%3, pool_size=[2, 2], strides=[2, 2])
})"),
      R"(%0 = add(%x, %c);
%1 = layout_transform(%0, src_layout="NCHW", dst_layout="NCHW3c");
%2 = layout_transform(%w, src_layout="OIHW", dst_layout="OIHW3i16o");
%3 = expand_dims(%b, axis=1, num_newaxis=2);
%4 = expand_dims(%3, axis=0);
%5 = nn.contrib_conv2d_NCHWc(%1, %2, padding=[3, 3, 3, 3], channels=64, kernel_size=[7, 7], data_layout="NCHW3c", kernel_layout="OIHW3i16o", out_layout="NCHW16c");
%6 = layout_transform(%4, src_layout="NCHW", dst_layout="NCHW16c");
%7 = add(%5, %6);
%8 = nn.relu(%7);
%9 = nn.max_pool2d(%8, pool_size=[2, 2], strides=[2, 2], layout="NCHW16c");
layout_transform(%9, src_layout="NCHW16c", dst_layout="NCHW")
)");
}

TEST(AlterOpLayout, ResidualAddStaysInBlocks) {
  EXPECT_EQ(
      altered(
          R"(def @main(%x: Tensor[(1, 32, 8, 8), float32], %w: Tensor[(32, 32, 1, 1), float32], %v: Tensor[(32, 32, 1, 1), float32], %s: Tensor[(1), float32]) {
  %0 = nn.conv2d(%x, %w, channels=32, kernel_size=[1, 1]);
  %1 = nn.relu(%0);
  %2 = nn.conv2d(%1, %v, channels=32, kernel_size=[1, 1]);
  %3 = add(%2, %x);
  %4 = multiply(%3, %s);
  %5 = nn.global_avg_pool2d(%4);
  nn.batch_flatten(%5)
})"),
      R"(%0 = layout_transform(%x, src_layout="NCHW", dst_layout="NCHW16c");
%1 = layout_transform(%w, src_layout="OIHW", dst_layout="OIHW16i16o");
%2 = nn.contrib_conv2d_NCHWc(%0, %1, channels=32, kernel_size=[1, 1], data_layout="NCHW16c", kernel_layout="OIHW16i16o", out_layout="NCHW16c");
%3 = nn.relu(%2);
%4 = layout_transform(%v, src_layout="OIHW", dst_layout="OIHW16i16o");
%5 = nn.contrib_conv2d_NCHWc(%3, %4, channels=32, kernel_size=[1, 1], data_layout="NCHW16c", kernel_layout="OIHW16i16o", out_layout="NCHW16c");
%6 = add(%5, %0);
%7 = multiply(%6, %s);
%8 = nn.global_avg_pool2d(%7, layout="NCHW16c");
%9 = layout_transform(%8, src_layout="NCHW16c", dst_layout="NCHW");
nn.batch_flatten(%9)
)");
}

TEST(AlterOpLayout, WinogradWhereItIsFaster) {
  EXPECT_EQ(altered(R"(def @main(%x: Tensor[(1, 64, 56, 56), float32], %w: Tensor[(64, 64, 3, 3), float32]) {
  nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=64, kernel_size=[3, 3])
})"),
            R"(%0 = nn.contrib_conv2d_winograd_weight_transform(%w, tile_size=4);
%1 = layout_transform(%x, src_layout="NCHW", dst_layout="NCHW16c");
%2 = layout_transform(%0, src_layout="HWOI", dst_layout="HWOI16i16o");
%3 = nn.contrib_conv2d_winograd_without_weight_transform(%1, %2, tile_size=4, padding=[1, 1, 1, 1], channels=64, kernel_size=[3, 3], data_layout="NCHW16c", kernel_layout="HWOI16i16o", out_layout="NCHW16c");
layout_transform(%3, src_layout="NCHW16c", dst_layout="NCHW")
)");
}

TEST(AlterOpLayout, DepthwiseAndDense) {
  EXPECT_EQ(
      altered(
          R"(def @main(%x: Tensor[(1, 32, 8, 8), float32], %w: Tensor[(32, 1, 3, 3), float32], %d: Tensor[(64, 2048), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], groups=32, channels=32, kernel_size=[3, 3]);
  %1 = nn.batch_flatten(%0);
  nn.dense(%1, %d, units=64)
})"),
      R"(%0 = layout_transform(%x, src_layout="NCHW", dst_layout="NCHW16c");
%1 = layout_transform(%w, src_layout="OIHW", dst_layout="OIHW1i16o");
%2 = nn.contrib_depthwise_conv2d_NCHWc(%0, %1, padding=[1, 1, 1, 1], groups=32, channels=32, kernel_size=[3, 3], data_layout="NCHW16c", kernel_layout="OIHW1i16o", out_layout="NCHW16c");
%3 = layout_transform(%2, src_layout="NCHW16c", dst_layout="NCHW");
%4 = nn.batch_flatten(%3);
%5 = layout_transform(%d, src_layout="NK", dst_layout="NK16n");
nn.contrib_dense_pack(%4, %5, units=64, out_dtype="float32", weight_layout="NK16n")
)");
}

// Read once, a packed weight would only be a second copy of it.
TEST(AlterOpLayout, LongRowsOfAWeightForFewRowsOfDataStayAsTheyAre) {
  const auto dense = [](const std::string& rows) {
    return altered("def @main(%x: Tensor[(" + rows +
                   ", 8192), float32], %d: Tensor[(64, 8192), float32]) {\n" +
                   "  nn.dense(%x, %d, units=64)\n}");
  };
  EXPECT_EQ(dense("3"), "nn.dense(%x, %d, units=64)\n");
  EXPECT_THAT(dense("4"), testing::HasSubstr("nn.contrib_dense_pack"));
}

/// The last block of a constant weight is filled up with zeros, of any number of units; other weights stay as
/// they are.
TEST(AlterOpLayout, DenseOfOddUnits) {
  BuildContext wide;
  wide.sheets.emplace_back().float_lanes = 16;
  const auto layouts = [&](const std::string& program) {
    return body_text(
        run_passes(typed_module(program), {named_pass("FoldConstant"), fast_layouts()}, 3, wide));
  };
  EXPECT_EQ(layouts(R"(def @main(%x: Tensor[(3, 20), float32]) {
  %0 = broadcast_to(1f, shape=[37, 20]);
  nn.dense(%x, %0, units=None)
})"),
            R"(%0 = nn.pad(meta[relay.Constant][0], 0f, pad_width=[[0, 11], [0, 0]]);
%1 = layout_transform(%0, src_layout="NK", dst_layout="NK16n");
nn.contrib_dense_pack(%x, %1, units=37, out_dtype="float32", weight_layout="NK16n")
)");
  EXPECT_EQ(layouts(R"(def @main(%x: Tensor[(3, 20), float32], %d: Tensor[(37, 20), float32]) {
  nn.dense(%x, %d, units=37)
})"),
            "nn.dense(%x, %d, units=37)\n");
}

TEST(AlterOpLayout, TransformsNameTheirCause) {
  EXPECT_EQ(
      altered(R"(def @main(%x: Tensor[(1, 256, 8, 8), float32], %w: Tensor[(64, 256, 1, 1), float32]) {
  %0 = nn.conv2d(%x, %w, channels=64, kernel_size=[1, 1]);
  nn.softmax(%0)
})",
              true),
      R"(%0 = layout_transform(%x, src_layout="NCHW", dst_layout="NCHW16c") /* made_for=3:8 "nn.conv2d at test.relay:3 computes in NCHW16c" */;
%1 = layout_transform(%w, src_layout="OIHW", dst_layout="OIHW16i16o") /* made_for=3:8 "nn.conv2d at test.relay:3 computes in NCHW16c" */;
%2 = nn.contrib_conv2d_NCHWc(%0, %1, channels=64, kernel_size=[1, 1], data_layout="NCHW16c", kernel_layout="OIHW16i16o", out_layout="NCHW16c") /* from=3:8 */;
%3 = layout_transform(%2, src_layout="NCHW16c", dst_layout="NCHW") /* made_for=4:3 "nn.softmax at test.relay:4 computes in NCHW" */;
nn.softmax(%3) /* from=4:3 */
)");
}

/// Two convolutions with `between` from %0 to %9: layout_transforms of the data that are left between them.
int transforms_between(const std::string& between, const std::string& channels = "32") {
  const std::string text = altered(
      "def @main(%x: Tensor[(1, 32, 8, 8), float32], %w: Tensor[(32, 32, 1, 1), float32], %v: Tensor[(16, " +
      channels + ", 1, 1), float32], %s: Tensor[(1, 32, 1, 1), float32]) {\n" +
      "  %0 = nn.relu(nn.conv2d(%x, %w, channels=32, kernel_size=[1, 1]));\n" + between +
      "\n  nn.conv2d(%9, %v, channels=16, kernel_size=[1, 1])\n}");
  // The convolutions' own: data and weight of the first, weight of the second, the result.
  int count = -4;
  for (size_t at = 0; (at = text.find("layout_transform(", at)) != std::string::npos; ++at) ++count;
  return count;
}

/// Between packed convolutions, operators with a layout rule are computed as packed, too. An operator whose
/// rule no program here needs fails the test.
TEST(AlterOpLayout, EveryLayoutRuleHasAUser) {
  struct Use {
    const char* op;
    const char* program;
    const char* channels = "32";
  };
  const std::vector<Use> uses = {
      {"concatenate", "  %9 = concatenate((%0, %0), axis=1);", "64"},
      {"image.resize2d",
       "  %9 = image.resize2d(%0, size=[16, 16], roi=[0f, 0f, 0f, 0f], method=\"linear\");"},
      {"max", "  %9 = max(%0, axis=[2, 3], keepdims=True);"},
      {"mean", "  %9 = mean(%0, axis=[2, 3], keepdims=True);"},
      {"min", "  %9 = min(%0, axis=[2], keepdims=True);"},
      {"nn.adaptive_avg_pool2d", "  %9 = nn.adaptive_avg_pool2d(%0, output_size=[2, 2]);"},
      {"nn.adaptive_max_pool2d", "  %9 = nn.adaptive_max_pool2d(%0, output_size=[2, 2]);"},
      {"nn.avg_pool2d", "  %9 = nn.avg_pool2d(%0, pool_size=[2, 2]);"},
      {"nn.depth_to_space",
       "  %1 = concatenate((%0, %0), axis=1);\n  %9 = nn.depth_to_space(%1, block_size=2);", "16"},
      {"nn.global_avg_pool2d", "  %9 = nn.global_avg_pool2d(%0);"},
      {"nn.global_max_pool2d", "  %9 = nn.global_max_pool2d(%0);"},
      {"nn.max_pool2d", "  %9 = nn.max_pool2d(%0, pool_size=[2, 2]);"},
      {"nn.pad", "  %9 = nn.pad(%0, 0f, pad_width=[[0, 0], [0, 16], [1, 1], [1, 1]]);", "48"},
      {"nn.upsampling", "  %9 = nn.upsampling(%0, scale_h=2f, scale_w=2f);"},
      {"prod", "  %9 = prod(%0, axis=[3], keepdims=True);"},
      {"split",
       "  %1 = split(%0, indices_or_sections=2, axis=1);\n  %9 = concatenate((%1.1, %1.0), axis=1);"},
      {"squeeze",
       "  %1 = nn.global_avg_pool2d(%0);\n  %2 = squeeze(%1, axis=[3]);\n  %3 = sum(%2, axis=[2]);\n  %4 = "
       "expand_dims(%3, axis=2, num_newaxis=2);\n  %9 = add(%0, %4);"},
      {"strided_slice",
       "  %9 = strided_slice(%0, begin=[0, 16, 1, 0], end=[1, 32, 8, 8], strides=[1], axes=None);", "16"},
      {"sum", "  %9 = sum(%0, axis=[2, 3], keepdims=True);"}};
  std::set<std::string> used;
  for (const Use& use : uses) {
    SCOPED_TRACE(use.program);
    // What has lost axes lies as in the program again before it gets them back: two small transforms.
    EXPECT_EQ(transforms_between(use.program, use.channels), use.op == std::string("squeeze") ? 2 : 0);
    used.insert(use.op);
  }
  const std::string integers = altered(R"(
def @main(%x: Tensor[(1, 32, 8, 8), int16], %w: Tensor[(32, 32, 1, 1), int16], %v: Tensor[(16, 32, 1, 1), int16],
          %m: Tensor[(32), int32], %s: Tensor[(32), int32]) {
  %0 = nn.conv2d(%x, %w, channels=32, kernel_size=[1, 1], out_dtype="int32");
  %1 = fixed_point_multiply_per_axis(%0, %m, %s, %s, is_rshift_required=True, axes=[1]);
  nn.conv2d(cast(%1, dtype="int16"), %v, channels=16, kernel_size=[1, 1], out_dtype="int32")
})");
  EXPECT_THAT(integers, testing::HasSubstr("axes=[1, 4]"));
  used.insert("fixed_point_multiply_per_axis");
  register_all_ops();
  for (const OpDef* op : all_ops())
    EXPECT_TRUE(!op->rules.get<LayoutRule>() || used.contains(op->name)) << op->name;
}

TEST(AlterOpLayout, FactorOfSqueezeAndExciteStaysInBlocks) {
  EXPECT_EQ(transforms_between("  %1 = nn.global_avg_pool2d(%0);\n  %2 = sigmoid(%1);\n  %9 = multiply(%0, "
                               "%2);"),
            0);
  EXPECT_EQ(transforms_between("  %9 = multiply(%0, %s);"), 1);  // a parameter's own
}

TEST(AlterOpLayout, ConcatenateIsPackedWhereThatMovesLess) {
  const auto joined = [](const std::string& parts) {
    return altered(
        "def @main(%x: Tensor[(1, 256, 8, 8), float32], %w: Tensor[(32, 256, 3, 3), float32], %v: "
        "Tensor[(24, "
        "256, 3, 3), float32], %y: Tensor[(1, 16, 8, 8), float32], %z: Tensor[(1, 8, 8, 8), float32]) {\n"
        "  %0 = nn.conv2d(%x, %w, channels=32, padding=[1, 1, 1, 1], kernel_size=[3, 3]);\n"
        "  %1 = nn.conv2d(%x, %v, channels=24, padding=[1, 1, 1, 1], kernel_size=[3, 3]);\n"
        "  %2 = concatenate((" +
        parts + "), axis=1);\n  nn.relu(%2)\n}");
  };
  const auto holds = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  // 32 channels in blocks of 16, and 16 of a parameter: the parameter is packed.
  EXPECT_TRUE(holds(joined("%0, %y"), "layout_transform(%y, src_layout=\"NCHW\", dst_layout=\"NCHW16c\")"));
  // More elements would have to be packed than unpacked.
  EXPECT_FALSE(holds(joined("%0, %y, %y, %y"), "layout_transform(%y"));
  // 24 and 8 channels do not consist of blocks of 16.
  EXPECT_FALSE(holds(joined("%0, %1"), "dst_layout=\"NCHW16c\");\n%5 = concatenate"));
  EXPECT_FALSE(holds(joined("%0, %z"), "layout_transform(%z"));
}

TEST(AlterOpLayout, WeightsWithFactorsOfRunTimeArePackedAtCompileTime) {
  const IRModule module = bind_param(
      typed_module(
          "def @main(%x: Tensor[(1, 512, 8, 8), float32], %w: Tensor[(64, 512, 1, 1), float32], %s: "
          "Tensor[(512, "
          "1, 1), float32]) {\n  %0 = multiply(%w, %s);\n  nn.conv2d(%x, %0, channels=64, kernel_size=[1, "
          "1])\n}"),
      "w");
  BuildContext wide;
  wide.sheets.emplace_back().float_lanes = 16;
  const std::string text = body_text(
      run_passes(module, {named_pass("InferType"), fast_layouts(), named_pass("FoldConstant")}, 3, wide));
  EXPECT_EQ(text,
            R"(%0 = expand_dims(%s, axis=0);
%1 = layout_transform(%0, src_layout="OIHW", dst_layout="OIHW16i1o");
%2 = layout_transform(%x, src_layout="NCHW", dst_layout="NCHW16c");
%3 = multiply(meta[relay.Constant][0], %1);
%4 = nn.contrib_conv2d_NCHWc(%2, %3, channels=64, kernel_size=[1, 1], data_layout="NCHW16c", kernel_layout="OIHW16i16o", out_layout="NCHW16c");
layout_transform(%4, src_layout="NCHW16c", dst_layout="NCHW")
)");
}

TEST(AlterOpLayout, TuplesAndOddChannels) {
  // Branches of other block sizes meet in a tuple; 17 channels have no block.
  EXPECT_EQ(
      altered(
          R"(def @main(%x: Tensor[(1, 256, 8, 8), float32], %w: Tensor[(64, 256, 1, 1), float32], %v: Tensor[(17, 256, 1, 1), float32]) {
  %0 = nn.conv2d(%x, %w, channels=64, kernel_size=[1, 1]);
  %1 = nn.conv2d(%x, %v, channels=17, kernel_size=[1, 1]);
  (%0, %1)
})"),
      R"(%0 = layout_transform(%x, src_layout="NCHW", dst_layout="NCHW16c");
%1 = layout_transform(%w, src_layout="OIHW", dst_layout="OIHW16i16o");
%2 = nn.contrib_conv2d_NCHWc(%0, %1, channels=64, kernel_size=[1, 1], data_layout="NCHW16c", kernel_layout="OIHW16i16o", out_layout="NCHW16c");
%3 = layout_transform(%2, src_layout="NCHW16c", dst_layout="NCHW");
%4 = nn.conv2d(%x, %v, channels=17, kernel_size=[1, 1]);
(%3, %4)
)");
}

// Between two transforms a layer of few multiply-adds is slower than in plain layouts; with a reader in
// blocks, or large, it is not.
TEST(AlterOpLayout, SmallLayersThatStandAloneStayPlain) {
  const std::string alone = altered(
      R"(def @main(%x: Tensor[(1, 4, 96, 96), float32], %w: Tensor[(96, 4, 1, 1), float32]) {
  nn.relu(nn.conv2d(%x, %w, channels=96, kernel_size=[1, 1]))
})");
  EXPECT_EQ(alone.find("NCHWc"), std::string::npos) << alone;
  const std::string read = altered(
      R"(def @main(%x: Tensor[(1, 4, 96, 96), float32], %w: Tensor[(96, 4, 1, 1), float32], %v: Tensor[(64, 96, 3, 3), float32]) {
  %0 = nn.relu(nn.conv2d(%x, %w, channels=96, kernel_size=[1, 1]));
  nn.conv2d(%0, %v, padding=[1, 1, 1, 1], channels=64, kernel_size=[3, 3])
})");
  EXPECT_NE(read.find("nn.contrib_conv2d_NCHWc(%0"), std::string::npos) << read;
}

TEST(AlterOpLayout, TransposedConvolutions) {
  // In blocks; of three output channels, in rows, and the weight by taps.
  EXPECT_EQ(
      altered(
          R"(def @main(%x: Tensor[(1, 100, 4, 4), float32], %w: Tensor[(100, 64, 4, 4), float32], %b: Tensor[(64), float32], %v: Tensor[(64, 3, 4, 4), float32]) {
  %0 = nn.conv2d_transpose(%x, %w, channels=64, kernel_size=[4, 4], strides=[2, 2], padding=[1, 1, 1, 1], kernel_layout="IOHW");
  %1 = nn.relu(nn.bias_add(%0, %b));
  tanh(nn.conv2d_transpose(%1, %v, strides=[4, 4], kernel_layout="IOHW"))
})"),
      R"(%0 = layout_transform(%x, src_layout="NCHW", dst_layout="NCHW10c");
%1 = layout_transform(%w, src_layout="IOHW", dst_layout="OHWI16o");
%2 = expand_dims(%b, axis=1, num_newaxis=2);
%3 = expand_dims(%2, axis=0);
%4 = nn.conv2d_transpose(%0, %1, channels=64, kernel_size=[4, 4], strides=[2, 2], padding=[1, 1, 1, 1], data_layout="NCHW10c", kernel_layout="OHWI16o", out_layout="NCHW16c");
%5 = layout_transform(%3, src_layout="NCHW", dst_layout="NCHW16c");
%6 = add(%4, %5);
%7 = nn.relu(%6);
%8 = layout_transform(%7, src_layout="NCHW16c", dst_layout="NCHW");
%9 = layout_transform(%v, src_layout="IOHW", dst_layout="HWIO");
%10 = nn.conv2d_transpose(%8, %9, channels=3, kernel_size=[4, 4], strides=[4, 4], kernel_layout="HWIO");
tanh(%10)
)");
  // Depthwise, and one axis, where Relay's names of the weight's axes are swapped.
  EXPECT_EQ(
      altered(
          R"(def @main(%x: Tensor[(1, 32, 9, 9), float32], %w: Tensor[(32, 1, 4, 4), float32], %y: Tensor[(1, 32, 9), float32], %v: Tensor[(32, 16, 3), float32]) {
  (nn.conv2d_transpose(%x, %w, groups=32, channels=32, kernel_size=[4, 4], kernel_layout="IOHW"), nn.conv1d_transpose(%y, %v))
})"),
      R"(%0 = layout_transform(%x, src_layout="NCHW", dst_layout="NCHW16c");
%1 = layout_transform(%w, src_layout="IOHW", dst_layout="OHWI16i");
%2 = nn.conv2d_transpose(%0, %1, channels=32, kernel_size=[4, 4], groups=32, data_layout="NCHW16c", kernel_layout="OHWI16i", out_layout="NCHW16c");
%3 = layout_transform(%y, src_layout="NCW", dst_layout="NCW16c");
%4 = layout_transform(%v, src_layout="OIW", dst_layout="IWO16i");
%5 = nn.conv1d_transpose(%3, %4, channels=16, kernel_size=[3], data_layout="NCW16c", kernel_layout="IWO16i", out_layout="NCW16c");
%6 = layout_transform(%2, src_layout="NCHW16c", dst_layout="NCHW");
%7 = layout_transform(%5, src_layout="NCW16c", dst_layout="NCW");
(%6, %7)
)");
  // Other layouts stay.
  const std::string other =
      R"(nn.conv2d_transpose(%x, %w, channels=16, kernel_size=[3, 3], data_layout="NHWC", kernel_layout="HWOI")
)";
  EXPECT_EQ(altered("def @main(%x: Tensor[(1, 8, 8, 16), float32], %w: Tensor[(3, 3, 16, 16), float32]) {" +
                    other + "}"),
            other);
}

}  // namespace
}  // namespace baton
