#pragma once
// Which algorithm a 2-D convolution runs best with. The layout pass asks before it packs the weight; no
// Halide needed.
#include <cstdint>
#include <string>

#include "baton/target/device_sheet.h"

namespace baton {

/// A convolution with all its extents. Height and width are the result's.
struct ConvShape {
  int64_t batch = 1, in_channels = 0, out_channels = 0;
  int64_t out_height = 0, out_width = 0;
  int64_t kernel_height = 1, kernel_width = 1;
  int64_t stride_height = 1, stride_width = 1;
  int64_t dilation_height = 1, dilation_width = 1;
  int64_t groups = 1;
  bool float32 = true;
};

struct ConvAlgorithm {
  enum class Kind { kDirect, kWinograd };
  Kind kind = Kind::kDirect;
  int tile_size = 0;   ///< of kWinograd: rows and columns of output a tile makes, 2 or 4
  std::string reason;  ///< one line for `explain`
};

/// The algorithm with the least expected time. Winograd F(2,3) has an error like the direct sum's, F(4,3) one
/// of 5e-6 of the largest output (see docs of the winograd template). Weights are taken to come from memory,
/// as they do in a network that is larger than the caches.
ConvAlgorithm choose_conv_algorithm(const ConvShape& shape, const DeviceSheet& sheet);

/// Channels per block of a packed layout for `channels` channels: the largest divisor that one vector
/// register holds (16 with AVX-512), so that no block is partly empty. 1 for a prime number of channels that
/// is larger.
int64_t channel_block(int64_t channels, const DeviceSheet& sheet);

/// Output features per block of a packed dense weight (`NK16n`), by the same rule.
int64_t dense_block(int64_t units, const DeviceSheet& sheet);

}  // namespace baton
