// How sums of products are parted among the threads of a GPU.
#include <tuple>

#include <gtest/gtest.h>

#include "baton/schedule/gpu/parts.h"

namespace baton {
namespace {

DeviceSheet gpu_with(int cores) {
  DeviceSheet sheet;
  sheet.cores = cores;
  return sheet;
}

/// A convolution with windows of `taps`, in blocks of 16 channels.
ProductsOnGpu convolution(int in_channels, int out_channels, int pixels_across, int taps) {
  ProductsOnGpu products;
  products.results = int64_t{out_channels} * pixels_across * pixels_across;
  products.terms = int64_t{in_channels} * taps;
  products.extent = pixels_across;
  products.second_extent = out_channels / 16;
  products.wide = true;
  products.most_parts = products.terms / 16;
  return products;
}

int64_t threads_of(const ProductsOnGpu& p, const PartsOnGpu& parts) {
  const auto tiles = [](int extent, int tile) { return (extent + tile - 1) / tile; };
  return p.results / p.extent / p.second_extent / parts.wide * tiles(p.extent, parts.tile) *
         tiles(p.second_extent, parts.second) * parts.split;
}

TEST(GpuParts, SumsOfFewPixelsAreSplitUntilThereAreThreads) {
  for (const auto& [in, out, pixels, taps] :
       {std::tuple(512, 512, 7, 9), {2048, 384, 8, 1}, {448, 384, 8, 9}, {128, 32, 14, 9}}) {
    const ProductsOnGpu layer = convolution(in, out, pixels, taps);
    const PartsOnGpu parts = best_parts(layer, gpu_with(128)).front();
    EXPECT_GE(parts.split, 8) << in << " -> " << out;
    EXPECT_GE(threads_of(layer, parts), 128 * 64) << in << " -> " << out;
  }
}

TEST(GpuParts, ManyPixelsAreSummedByTilesAndNotSplit) {
  const PartsOnGpu parts = best_parts(convolution(64, 64, 224, 9), gpu_with(128)).front();
  EXPECT_EQ(parts.split, 1);
  EXPECT_EQ(parts.wide, kWideLoad);
  EXPECT_GE(parts.tile * parts.second, 4);
}

TEST(GpuParts, WhatCannotBeSplitIsNot) {
  ProductsOnGpu layer = convolution(512, 512, 7, 9);
  layer.most_parts = 1;
  layer.wide = false;
  const PartsOnGpu parts = best_parts(layer, gpu_with(128)).front();
  EXPECT_EQ(parts.split, 1);
  EXPECT_EQ(parts.wide, 1);
}

TEST(GpuParts, CandidatesAreSortedAndNotFarFromTheBest) {
  const ProductsOnGpu layer = convolution(256, 256, 14, 9);
  const DeviceSheet sheet = gpu_with(128);
  const std::vector<PartsOnGpu> all = best_parts(layer, sheet, 2);
  ASSERT_GT(all.size(), 10u);
  const double least = expected_cycles(layer, all.front(), sheet);
  for (size_t i = 1; i < all.size(); ++i) {
    EXPECT_GE(expected_cycles(layer, all[i], sheet), expected_cycles(layer, all[i - 1], sheet));
    EXPECT_LE(expected_cycles(layer, all[i], sheet), 2 * least);
  }
}

}  // namespace
}  // namespace baton
