// What calls and fused functions read of their operands.
#include "baton/ir/rules/read_rule.h"

#include <gtest/gtest.h>

#include "baton/ops/register.h"
#include "baton/types/function_text.h"

namespace baton {
namespace {

/// Bytes read of operands whose elements have four bytes; results are taken off.
double read_by(const std::string& params, const std::string& body, double results) {
  register_all_ops();
  const Function function = function_of_text("fn (" + params + ") {\n  " + body + "\n}");
  EXPECT_TRUE(function) << body;
  return function ? bytes_moved(*function) / 4 - results : -1;
}

double read_by_call(const std::string& params, const std::string& body, double results) {
  register_all_ops();
  const Function function = function_of_text("fn (" + params + ") {\n  " + body + "\n}");
  EXPECT_TRUE(function) << body;
  if (!function) return -1;
  const double alone = bytes_moved(*as<CallNode>(function->body()));
  EXPECT_EQ(alone, bytes_moved(*function)) << body;  // as a kernel of its own
  return alone / 4 - results;
}

constexpr const char* kTable = "%t: Tensor[(1000, 64), float32], ";

TEST(ReadRule, AnEmbeddingReadsTheRowsThatItTakes) {
  const std::string indices = std::string(kTable) + "%i: Tensor[(2, 3), int32]";
  EXPECT_EQ(read_by_call(indices, "take(%t, %i, axis=0)", 6 * 64), 6 * 64 + 6);
  EXPECT_EQ(read_by_call(indices, "take(%t, %i)", 6), 6 + 6);
  EXPECT_EQ(read_by_call(indices, "take(%t, %i, axis=1)", 1000 * 6), 1000 * 6 + 6);
  // More rows than the table has are not more of the table.
  EXPECT_EQ(read_by_call("%t: Tensor[(2, 8), float32], %i: Tensor[(50), int32]", "take(%t, %i, axis=0)", 400),
            16 + 50);
}

TEST(ReadRule, GathersReadWhatTheirIndicesName) {
  EXPECT_EQ(read_by_call("%x: Tensor[(100, 64), float32], %i: Tensor[(2, 64), int32]",
                         "gather(%x, %i, axis=0)", 128),
            128 + 128);
  // Three indices of two numbers name three elements.
  EXPECT_EQ(read_by_call("%x: Tensor[(100, 64), float32], %i: Tensor[(2, 3), int32]", "gather_nd(%x, %i)", 3),
            3 + 6);
  EXPECT_EQ(
      read_by_call("%x: Tensor[(100, 64), float32], %i: Tensor[(1, 3), int32]", "gather_nd(%x, %i)", 3 * 64),
      3 * 64 + 3);
  EXPECT_EQ(read_by("%x: Tensor[(100, 64), float32], %i: Tensor[(5), int32]",
                    "%0 = (%x, %i);\n  adv_index(%0)", 5 * 64),
            5 * 64 + 5);
}

TEST(ReadRule, SlicesReadTheirPart) {
  EXPECT_EQ(read_by_call("%x: Tensor[(100, 64), float32]",
                         "strided_slice(%x, begin=[10, 0], end=[12, 64], strides=[1, 1], axes=None)", 128),
            128);
  EXPECT_EQ(read_by_call("%x: Tensor[(100, 64), float32]",
                         "strided_slice(%x, begin=[0, 0], end=[100, 64], strides=[1, 4], axes=None)", 1600),
            1600);
  EXPECT_EQ(read_by_call("%x: Tensor[(100, 64), float32], %y: Tensor[(10, 8), float32]",
                         "slice_like(%x, %y, axes=None)", 80),
            80);
  EXPECT_EQ(read_by_call("%x: Tensor[(100), float32]",
                         "sliding_window(%x, axis=0, window_shape=[2], strides=[10])", 20),
            20);
}

TEST(ReadRule, OfASplitOnlyTheFieldsThatAreUsed) {
  const std::string x = "%x: Tensor[(8, 400), float32]";
  EXPECT_EQ(read_by(x, "%0 = split(%x, indices_or_sections=4, axis=1);\n  %1 = %0.2;\n  sigmoid(%1)", 800),
            800);
  EXPECT_EQ(
      read_by(x, "%0 = split(%x, indices_or_sections=4, axis=1);\n  %1 = %0.0;\n  %2 = %0.3;\n  add(%1, %2)",
              800),
      1600);
  EXPECT_EQ(read_by(x, "split(%x, indices_or_sections=4, axis=1)", 3200), 3200);
  // A field of a tuple that the kernel is given.
  EXPECT_EQ(
      read_by("%p: (Tensor[(8, 100), float32], Tensor[(8, 100), float32])", "%0 = %p.1;\n  tanh(%0)", 800),
      800);
}

TEST(ReadRule, WhatAFusedSliceDoesNotNeedIsNotRead) {
  EXPECT_EQ(read_by("%x: Tensor[(100, 64), float32], %b: Tensor[(64), float32]",
                    "%0 = add(%x, %b);\n  %1 = exp(%0);\n  strided_slice(%1, begin=[0, 0], end=[1, 64], "
                    "strides=[1, 1], axes=None)",
                    64),
            64 + 64);
  EXPECT_EQ(read_by(std::string(kTable) + "%i: Tensor[(5), int32]",
                    "%0 = multiply(%t, 2f);\n  take(%0, %i, axis=0)", 320),
            320 + 5);
  // The mean of the rows that are looked at.
  EXPECT_EQ(
      read_by("%x: Tensor[(100, 64), float32]",
              "%0 = mean(%x, axis=[1]);\n  strided_slice(%0, begin=[0], end=[10], strides=[1], axes=None)",
              10),
      640);
  EXPECT_EQ(read_by("%x: Tensor[(100, 64), float32]", "%0 = sigmoid(%x);\n  multiply(%x, %0)", 6400), 6400);
}

TEST(ReadRule, ConcatenationsReadAllOfTheirParts) {
  EXPECT_EQ(read_by("%x: Tensor[(2, 3), float32], %y: Tensor[(2, 5), float32]",
                    "%0 = (%x, %y);\n  concatenate(%0, axis=1)", 16),
            16);
  EXPECT_EQ(read_by("%x: Tensor[(10, 3), float32], %y: Tensor[(10, 3), float32]",
                    "%0 = (%x, %y);\n  %1 = stack(%0, axis=0);\n  strided_slice(%1, begin=[0, 0, 0], "
                    "end=[2, 1, 3], strides=[1, 1, 1], axes=None)",
                    6),
            6);
}

TEST(ReadRule, WindowsReadThePositionsThatTheyCover) {
  // Every other row and column.
  EXPECT_EQ(read_by_call("%x: Tensor[(1, 16, 8, 8), float32], %w: Tensor[(4, 16, 1, 1), float32]",
                         "nn.conv2d(%x, %w, strides=[2, 2], padding=[0, 0, 0, 0], channels=4, "
                         "kernel_size=[1, 1])",
                         64),
            16 * 16 + 64);
  EXPECT_EQ(read_by_call("%x: Tensor[(1, 8, 8, 16), float32], %w: Tensor[(1, 1, 16, 4), float32]",
                         "nn.conv2d(%x, %w, strides=[2, 1], padding=[0, 0, 0, 0], channels=4, "
                         "kernel_size=[1, 1], data_layout=\"NHWC\", kernel_layout=\"HWIO\")",
                         4 * 8 * 4),
            4 * 8 * 16 + 64);
  EXPECT_EQ(read_by_call("%x: Tensor[(1, 16, 8, 8), float32], %w: Tensor[(4, 16, 3, 3), float32]",
                         "nn.conv2d(%x, %w, strides=[2, 2], padding=[1, 1, 1, 1], channels=4, "
                         "kernel_size=[3, 3])",
                         64),
            1024 + 576);
  EXPECT_EQ(read_by_call("%x: Tensor[(1, 2, 9, 9), float32]",
                         "nn.max_pool2d(%x, pool_size=[1, 3], strides=[3, 3], padding=[0, 0, 0, 0])", 18),
            2 * 3 * 9);
}

TEST(ReadRule, InterpolationsReadNeighbours) {
  const auto resized = [](const char* method) {
    return read_by_call("%x: Tensor[(1, 1, 64, 64), float32]",
                        std::string("image.resize2d(%x, size=[4, 64], roi=[0f, 0f, 0f, 0f], layout=\"NCHW\", "
                                    "method=\"") +
                            method + "\")",
                        256);
  };
  EXPECT_EQ(resized("nearest_neighbor"), 4 * 64);
  EXPECT_EQ(resized("linear"), 8 * 64);
  EXPECT_EQ(resized("cubic"), 16 * 64);
  EXPECT_EQ(
      read_by_call("%x: Tensor[(1, 3, 100, 100), float32], %r: Tensor[(2, 5), float32]",
                   "vision.roi_align(%x, %r, pooled_size=[2, 2], spatial_scale=1f, sample_ratio=1)", 24),
      24 * 4 + 10);
}

TEST(ReadRule, OnlyTheTypeOfSomeOperandsCounts) {
  EXPECT_EQ(read_by_call("%x: Tensor[(10, 10), float32]", "zeros_like(%x)", 100), 0);
  EXPECT_EQ(
      read_by_call("%x: Tensor[(10, 10), float32], %y: Tensor[(10, 10), int32]", "cast_like(%x, %y)", 100),
      100);
  EXPECT_EQ(
      read_by_call("%x: Tensor[(10, 10), float32], %y: Tensor[(100), float32]", "reshape_like(%x, %y)", 100),
      100);
  EXPECT_EQ(read_by_call("%x: Tensor[(10, 10), float32]", "shape_of(%x, dtype=\"int32\")", 2), 0);
}

TEST(ReadRule, SumsAndSearchesReadWhatTheyNeed) {
  EXPECT_EQ(read_by("%x: Tensor[(8, 16), float32], %y: Tensor[(16, 8), float32]",
                    "%0 = (%x, %y);\n  einsum(%0, equation=\"ij,ji->i\")", 8),
            256);
  EXPECT_EQ(read_by_call("%s: Tensor[(1023), float32], %v: Tensor[(3), float32]",
                         "searchsorted(%s, %v, dtype=\"int32\")", 3),
            3 * 10 + 3);
  EXPECT_EQ(
      read_by_call("%p: Tensor[(4, 1000), float32], %t: Tensor[(4), int32], %w: Tensor[(1000), float32]",
                   "nn.nll_loss(%p, %t, %w, reduction=\"none\", ignore_index=-100)", 4),
      12);
  // Two values stand in two columns.
  EXPECT_EQ(read_by_call("%x: Tensor[(3, 100), float32], %d: Tensor[(2), float32], %i: Tensor[(2), int32], "
                         "%p: Tensor[(9), int32]",
                         "nn.sparse_dense(%x, %d, %i, %p)", 24),
            6 + 2 + 2 + 9);
}

TEST(ReadRule, AMemoryMustHoldAllOfAnOperand) {
  register_all_ops();
  const Function function =
      function_of_text(std::string("fn (") + kTable + "%i: Tensor[(2), int32]) { take(%t, %i, axis=0) }");
  ASSERT_TRUE(function);
  EXPECT_EQ(bytes_held(*as<CallNode>(function->body())), 4 * (64000 + 2 + 128));
}

}  // namespace
}  // namespace baton
