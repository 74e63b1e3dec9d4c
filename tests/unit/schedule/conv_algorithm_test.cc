// Which layouts convolutions are computed in.
#include "baton/schedule/conv_algorithm.h"

#include <gtest/gtest.h>

#include "baton/schedule/layout_cost.h"

namespace baton {
namespace {

DeviceSheet with_lanes(int lanes) {
  DeviceSheet sheet;
  sheet.float_lanes = lanes;
  return sheet;
}

ConvShape shape(int64_t in, int64_t out, int64_t extent, int64_t kernel) {
  return {.in_channels = in,
          .out_channels = out,
          .out_height = extent,
          .out_width = extent,
          .kernel_height = kernel,
          .kernel_width = kernel};
}

TEST(ConvBlock, ShortBlocksStayInPlainLayouts) {
  const DeviceSheet sheet = with_lanes(8);
  EXPECT_EQ(conv_block(shape(64, 64, 28, 1), sheet), 8);
  EXPECT_EQ(conv_block(shape(64, 41, 28, 1), sheet), 1);
  EXPECT_EQ(conv_block(shape(64, 82, 28, 5), sheet), 1);
  EXPECT_EQ(conv_block(shape(64, 35, 28, 1), sheet), 1);  // vectors of 7 are loaded in pieces
  // Vectors of few positions would be no longer.
  EXPECT_EQ(conv_block(shape(64, 20, 1, 1), sheet), 5);
  // Winograd in short vectors needs fewer operations still.
  EXPECT_EQ(conv_block(shape(64, 60, 56, 3), sheet), 6);
  ConvShape depthwise = shape(36, 36, 28, 3);
  depthwise.groups = 36;
  EXPECT_EQ(conv_block(depthwise, sheet), 6);
}

TEST(ConvBlock, HalfOfALongVectorIsKept) {
  EXPECT_EQ(conv_block(shape(64, 1000, 13, 1), with_lanes(16)), 10);
  EXPECT_EQ(conv_block(shape(64, 24, 56, 1), with_lanes(16)), 12);
  EXPECT_EQ(conv_block(shape(4, 4, 8, 3), with_lanes(16)), 4);  // all channels are one block
  EXPECT_EQ(conv_block(shape(64, 259, 52, 1), with_lanes(16)), 1);
}

TEST(ConvBlock, HalfVectorsWhereTheyAreAtFullRate) {
  DeviceSheet sheet = with_lanes(16);
  sheet.halves_at_full_rate = true;
  EXPECT_EQ(conv_block(shape(64, 1000, 13, 1), sheet), 8);
  EXPECT_EQ(conv_block(shape(64, 24, 56, 1), sheet), 8);
  EXPECT_EQ(conv_block(shape(64, 64, 56, 1), sheet), 16);
  EXPECT_EQ(conv_block(shape(64, 20, 56, 1), sheet), 10);  // no half vectors either
}

/// The weights of F(4,3) are 36 numbers for 9, those of F(2,3) 16: on small maps, reading them takes longer
/// than the multiplications do.
TEST(ConvAlgorithm, MemoryDecidesTheTilesOfSmallMaps) {
  DeviceSheet sheet = with_lanes(8);
  sheet.bytes_per_multiply_add = 3.5;
  EXPECT_EQ(choose_conv_algorithm(shape(512, 512, 7, 3), sheet).tile_size, 2);
  EXPECT_EQ(choose_conv_algorithm(shape(512, 512, 14, 3), sheet).tile_size, 4);
  sheet.bytes_per_multiply_add = 14;
  EXPECT_EQ(choose_conv_algorithm(shape(512, 512, 7, 3), sheet).tile_size, 4);
}

/// Tiles with larger errors than F(4,3) over two axes are not chosen, whatever they save.
TEST(ConvAlgorithm, OtherKernelsGoByWinogradWhereItIsExactEnough) {
  const DeviceSheet sheet = with_lanes(8);
  const auto tile = [&](int64_t rows, int64_t columns) {
    ConvShape s = shape(192, 192, 17, columns);
    s.kernel_height = rows;
    return choose_conv_algorithm(s, sheet).tile_size;
  };
  EXPECT_EQ(tile(1, 7), 4);
  EXPECT_EQ(tile(7, 1), 4);
  EXPECT_EQ(tile(1, 3), 4);
  EXPECT_EQ(tile(5, 5), 2);
  EXPECT_EQ(tile(2, 2), 4);
  EXPECT_EQ(tile(7, 7), 0);
  EXPECT_EQ(tile(9, 1), 0);
  EXPECT_EQ(tile(1, 1), 0);
}

// Between layout_transforms a layer in blocks pays for them: few multiply-adds per element of the result,
// half empty vectors, or channels one by one are then slower than plain layouts.
TEST(ConvBlock, LayersThatStandAlone) {
  const DeviceSheet sheet = with_lanes(8);
  const auto pays = [&](const ConvShape& conv, bool alone) {
    return pays_in_blocks(conv,
                          {.in_height = conv.out_height * conv.stride_height,
                           .in_width = conv.out_width * conv.stride_width,
                           .pad_top = conv.kernel_height / 2,
                           .pad_left = conv.kernel_width / 2,
                           .data_blocked = !alone,
                           .result_blocked = !alone},
                          sheet);
  };
  for (const ConvShape& few : {shape(3, 160, 64, 1), shape(24, 320, 56, 1), shape(56, 428, 11, 1)}) {
    EXPECT_TRUE(pays(few, false));
    EXPECT_FALSE(pays(few, true));
  }
  for (const ConvShape& many : {shape(64, 64, 56, 3), shape(256, 256, 28, 1), shape(48, 64, 35, 5)})
    EXPECT_TRUE(pays(many, true));
  ConvShape half = shape(284, 116, 20, 7), prime = shape(199, 416, 48, 7);
  half.stride_height = half.stride_width = prime.stride_height = prime.stride_width = 2;
  EXPECT_FALSE(pays(half, true));
  EXPECT_FALSE(pays(prime, true));
  ConvShape scale = shape(262, 262, 80, 1), depthwise = shape(64, 64, 80, 3);
  scale.groups = 262, depthwise.groups = 64;
  EXPECT_TRUE(pays(scale, false));
  EXPECT_FALSE(pays(scale, true));
  EXPECT_TRUE(pays(depthwise, true));
}

TEST(TransposeBlocks, VectorsInPiecesLose) {
  ConvShape conv = shape(120, 18, 58, 3);
  EXPECT_EQ(transpose_blocks(conv, with_lanes(8)).out, 1);
  conv.out_channels = 16;
  EXPECT_EQ(transpose_blocks(conv, with_lanes(8)).out, 8);
}

}  // namespace
}  // namespace baton
