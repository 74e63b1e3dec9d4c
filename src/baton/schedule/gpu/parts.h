#pragma once
// How the sums of products of a kernel are parted among the threads of a GPU, by expected time. Does not need
// Halide.
#include <cstdint>
#include <vector>

#include "baton/target/device_sheet.h"

namespace baton {

/// What decides how sums are parted.
struct ProductsOnGpu {
  int64_t results = 1, terms = 1;     ///< of each sum
  int extent = 1, second_extent = 1;  ///< of the axes along which a thread has several results
  bool wide = false;                  ///< whether it may have kWideLoad results along the innermost axis
  int64_t most_parts = 1;             ///< into which a sum can be split
};

/// Numbers that one instruction loads.
inline constexpr int kWideLoad = 4;
/// Terms of a sum, and parts of one, whose loads are under way together.
inline constexpr int kTermsAtOnce = 16, kPartsAtOnce = 16;

/// A thread sums `tile` x `second` x `wide` results, and of each one of `split` parts.
struct PartsOnGpu {
  int tile = 1, second = 1, wide = 1, split = 1;
};

/// The time that the sums take.
double expected_cycles(const ProductsOnGpu& products, const PartsOnGpu& parts, const DeviceSheet& sheet);

/// Parts that are worth trying, those of the least expected time first: up to `farthest` times as long.
std::vector<PartsOnGpu> best_parts(const ProductsOnGpu& products, const DeviceSheet& sheet,
                                   double farthest = 1);

}  // namespace baton
