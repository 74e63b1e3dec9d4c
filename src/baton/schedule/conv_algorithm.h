#pragma once
// Chooses the algorithm of a 2-D convolution. Called by the layout pass before it packs the weight; does not
// need Halide.
#include <cstdint>
#include <optional>
#include <string>

#include "baton/target/device_sheet.h"

namespace baton {

/// A convolution; symbolic extents are usual ones (ir/extent.h). Height and width are the result's.
struct ConvShape {
  int64_t batch = 1, in_channels = 0, out_channels = 0;
  int64_t out_height = 0, out_width = 0;
  int64_t kernel_height = 1, kernel_width = 1;
  int64_t stride_height = 1, stride_width = 1;
  int64_t dilation_height = 1, dilation_width = 1;
  int64_t groups = 1;
  bool float32 = true;  ///< else integers, with sums in int32
};

struct ConvAlgorithm {
  enum class Kind { kDirect, kWinograd };
  Kind kind = Kind::kDirect;
  int tile_size = 0;   ///< kWinograd: output tile size, 2 or 4
  std::string reason;  ///< one line for `explain`
  /// Expected, in vector multiply-adds of one core: of this algorithm, and of the direct sum.
  double cost = 0, direct_cost = 0;
};

/// The algorithm with the lowest expected time. Winograd F(2,3) has the same error as the direct sum, F(4,3)
/// one of 5e-6 of the largest output (see docs of the winograd template), and so have F(2,5), and F(4,7)
/// along one axis; tiles of larger errors are not chosen. Weights are assumed to be read from memory, as in
/// networks larger than the caches.
ConvAlgorithm choose_conv_algorithm(const ConvShape& shape, const DeviceSheet& sheet);

/// Winograd's algorithm with the tiles of the lowest expected time, whether or not the direct sum is faster;
/// nullopt where it does not apply.
std::optional<ConvAlgorithm> winograd_algorithm(const ConvShape& shape, const DeviceSheet& sheet);

/// Channels per block of a packed layout for `channels` channels: the largest divisor that fits a vector
/// register (16 with AVX-512), so that no block is padded. 1 for larger primes.
int64_t channel_block(int64_t channels, const DeviceSheet& sheet);

/// The same for integers: 16 (two vectors of sums with AVX2; what they are narrowed to is stored as one), or
/// 8, or else the largest divisor.
int64_t integer_block(int64_t channels);

/// Whether an instruction of the processor adds four products of uint8 and int8 to an int32 (VNNI).
bool sums_four_bytes(const DeviceSheet& sheet);

/// The block of the input channels of a convolution of integers, which holds whole groups of `summed`
/// channels: integer_block(), or the channels filled up with zeros where it holds none.
int64_t integer_in_block(int64_t channels, int64_t summed);

/// The block of a convolution's output channels; 1 where vectors of positions in plain layouts use more
/// lanes.
int64_t conv_block(const ConvShape& shape, const DeviceSheet& sheet);

/// The blocks of a transposed convolution, whose groups are not split; 1 and 1 where vectors of a row's
/// positions use more lanes than blocks of its few channels do: plain layouts are then faster.
struct TransposeBlocks {
  int64_t in = 1, out = 1;
};
TransposeBlocks transpose_blocks(const ConvShape& shape, const DeviceSheet& sheet);

/// Output features per block of a packed dense weight (`NK16n`): a vector register, the last block filled up;
/// of few units the largest divisor.
int64_t dense_block(int64_t units, const DeviceSheet& sheet);

}  // namespace baton
