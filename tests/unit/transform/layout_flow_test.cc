// Layouts by name: what AlterOpLayout chooses for a target, what ConvertLayout skips, and axes that several
// operators name by other letters.
#include <gtest/gtest.h>

#include "baton/transform/layout/skipped_layers.h"

#include "transform/transform_test.h"

namespace baton {
namespace {

constexpr const char* kConvDense =
    R"(def @main(%x: Tensor[(1, 6, 4, 4), float32], %w: Tensor[(24, 6, 1, 1), float32], %d: Tensor[(20, 384), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[0, 0, 0, 0], channels=24, kernel_size=[1, 1]);
  %1 = nn.batch_flatten(%0);
  nn.dense(%1, %d, units=20)
})";

std::string altered_for(const char* target) {
  BuildContext context;
  context.targets = {Target::parse(target)};
  return body_text(run_passes(typed_module(kConvDense), {named_pass("AlterOpLayout")}, 3, context));
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(LayoutsByName, BlocksFitTheProcessor) {
  const std::string plain = altered_for("llvm"), avx2 = altered_for("llvm -mcpu=haswell"),
                    avx512 = altered_for("llvm -mcpu=skylake-avx512");
  EXPECT_TRUE(has(plain, "OIHW3i4o") && has(plain, "NC5n")) << plain;
  EXPECT_TRUE(has(avx2, "OIHW6i8o") && has(avx2, "NC10n")) << avx2;
  EXPECT_TRUE(has(avx512, "OIHW6i12o") && has(avx512, "NC20n")) << avx512;
  EXPECT_TRUE(has(altered_for("llvm -mattr=+avx2"), "OIHW6i8o"));
}

Pass to_nhwc() {
  named_pass("InferType");
  return make_pass("ConvertLayout",
                   {{"desired_layouts", AttrList{AttrList{"nn.conv2d", AttrList{"NHWC", "default"}}}}});
}

TEST(LayoutsByName, SkippedConvolutionsStay) {
  const IRModule module =
      typed_module(R"(def @main(%x: Tensor[(1, 4, 4, 4), float32], %w: Tensor[(4, 4, 1, 1), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[0, 0, 0, 0], channels=4, kernel_size=[1, 1]);
  nn.conv2d(%0, %w, padding=[0, 0, 0, 0], channels=4, kernel_size=[1, 1])
})");
  BuildContext context;
  context.skipped_layers = std::make_shared<SkippedLayers>(SkippedLayers{{1}});
  const std::string text = body_text(run_passes(module, {to_nhwc()}, 3, context));
  EXPECT_EQ(text, R"(%0 = layout_transform(%x, src_layout="NCHW", dst_layout="NHWC");
%1 = layout_transform(%w, src_layout="OIHW", dst_layout="HWIO");
%2 = nn.conv2d(%0, %1, padding=[0, 0, 0, 0], channels=4, kernel_size=[1, 1], data_layout="NHWC", kernel_layout="HWIO");
%3 = layout_transform(%2, src_layout="NHWC", dst_layout="NCHW");
nn.conv2d(%3, %w, padding=[0, 0, 0, 0], channels=4, kernel_size=[1, 1])
)");
}

TEST(LayoutsByName, AReaderHasItsOwnLetters) {
  // Behind the transpose H and W are swapped; the pool calls its axes NCHW all the same.
  const IRModule module =
      typed_module(R"(def @main(%x: Tensor[(1, 4, 4, 6), float32], %w: Tensor[(4, 4, 1, 1), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[0, 0, 0, 0], channels=4, kernel_size=[1, 1]);
  %1 = transpose(%0, axes=[0, 1, 3, 2]);
  nn.max_pool2d(%1, pool_size=[2, 1], strides=[2, 1], padding=[0, 0, 0, 0])
})");
  const std::string text = body_text(run_passes(module, {to_nhwc()}));
  EXPECT_TRUE(has(text, "transpose(%2, axes=[0, 3, 2, 1])") && !has(text, "NCWH")) << text;
}

}  // namespace
}  // namespace baton
