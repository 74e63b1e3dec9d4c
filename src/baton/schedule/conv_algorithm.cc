#include "baton/schedule/conv_algorithm.h"

#include <algorithm>
#include <cstdio>

namespace baton {
namespace {

/// Below this many channels the transforms cost more than the saved multiplications.
constexpr int64_t kWinogradChannels = 16;

int64_t tiles(int64_t extent, int64_t size) { return (extent + size - 1) / size; }

double overlapped(double fmas, double weight_bytes, const DeviceSheet& sheet) {
  const double load = weight_bytes / sheet.bytes_per_multiply_add;
  return std::max(fmas, load) + sheet.not_overlapped * std::min(fmas, load);
}

/// All costs are in vector multiply-adds of one core.
double direct_cost(const ConvShape& s, const DeviceSheet& sheet) {
  const double lanes = sheet.float_lanes;
  const double taps = static_cast<double>(s.kernel_height * s.kernel_width);
  const double per_pixel = taps * s.in_channels / s.groups * s.out_channels / lanes;
  return overlapped(s.batch * s.out_height * s.out_width * per_pixel,
                    taps * s.in_channels / s.groups * s.out_channels * 4, sheet);
}

double winograd_cost(const ConvShape& s, int tile, const DeviceSheet& sheet) {
  const double lanes = sheet.float_lanes;
  const int a = tile + 2;
  const double count = static_cast<double>(s.batch * tiles(s.out_height, tile) * tiles(s.out_width, tile));
  const double gemm = count * a * a * s.in_channels * s.out_channels / lanes;
  // A transform is two passes of small dense combinations, and a load and a store per element.
  const double passes = tile == 2 ? 2.0 : 3.5;
  const double transform_in = count * s.in_channels / lanes * a * a * (passes + 2);
  const double transform_out = count * s.out_channels / lanes * a * (a + tile) / 2.0 * (passes + 2);
  return overlapped(gemm, static_cast<double>(a * a) * s.in_channels * s.out_channels * 4, sheet) +
         transform_in + transform_out;
}

std::string megas(double fmas) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2fM", fmas / 1e6);
  return text;
}

ConvAlgorithm direct(std::string reason) {
  return {ConvAlgorithm::Kind::kDirect, 0, "direct: " + std::move(reason)};
}

int64_t largest_divisor(int64_t extent, int64_t limit) {
  for (int64_t divisor = std::min(extent, limit); divisor > 1; --divisor)
    if (extent % divisor == 0) return divisor;
  return 1;
}

/// The part of the lanes that blocks of `block` channels keep busy: vectors of other lengths than powers of
/// two are loaded and stored in pieces.
double busy_lanes(int64_t block, const DeviceSheet& sheet) {
  constexpr double kPieces = 0.6;
  return double(block) / sheet.float_lanes * (block % 4 == 0 || block <= 2 ? 1 : kPieces);
}

/// The same of vectors of positions.
double busy_lanes_of_positions(int64_t positions, const DeviceSheet& sheet) {
  return double(positions) / double(tiles(positions, sheet.float_lanes) * sheet.float_lanes);
}

}  // namespace

ConvAlgorithm choose_conv_algorithm(const ConvShape& s, const DeviceSheet& sheet) {
  if (s.kernel_height != 3 || s.kernel_width != 3) return direct("Winograd needs a 3x3 kernel");
  if (s.stride_height != 1 || s.stride_width != 1) return direct("Winograd needs strides of 1");
  if (s.dilation_height != 1 || s.dilation_width != 1) return direct("Winograd needs dilations of 1");
  if (s.groups != 1) return direct("Winograd needs one group");
  if (!s.float32) return direct("Winograd needs float32");
  if (s.in_channels < kWinogradChannels || s.out_channels < kWinogradChannels)
    return direct("fewer than " + std::to_string(kWinogradChannels) + " channels");
  const double plain = direct_cost(s, sheet), two = winograd_cost(s, 2, sheet),
               four = winograd_cost(s, 4, sheet);
  const std::string costs = "expected cost in vector multiply-adds: direct " + megas(plain) + ", F(2,3) " +
                            megas(two) + ", F(4,3) " + megas(four);
  if (plain <= std::min(two, four)) return direct(costs);
  const int tile = two < four ? 2 : 4;
  return {ConvAlgorithm::Kind::kWinograd, tile, "Winograd F(" + std::to_string(tile) + ",3): " + costs};
}

int64_t channel_block(int64_t channels, const DeviceSheet& sheet) {
  return largest_divisor(channels, sheet.float_lanes);
}

int64_t integer_block(int64_t channels) {
  for (const int64_t block : {16, 8})
    if (channels % block == 0) return block;
  return largest_divisor(channels, 16);
}

bool sums_four_bytes(const DeviceSheet& sheet) {
  for (const char* feature : {"avx512_zen4", "avx512_zen5", "avx512_sapphirerapids"})
    if (sheet.code_target.find(feature) != std::string::npos) return true;
  return false;
}

int64_t integer_in_block(int64_t channels, int64_t summed) {
  const int64_t block = integer_block(channels);
  if (block % summed == 0) return block;
  return std::min<int64_t>(16, tiles(channels, summed) * summed);
}

int64_t conv_block(const ConvShape& s, const DeviceSheet& sheet) {
  // Vectors of positions are read unaligned. Half a vector of channels is kept, and with 16 lanes what is
  // more, since the layers around are packed; 5 to 7 of 8 lanes are loaded in pieces.
  constexpr double kPlain = 0.8;
  constexpr int64_t kPacked = 8;
  const int64_t block = channel_block(s.out_channels, sheet);
  if (s.groups != 1 || block >= std::min<int64_t>(kPacked, sheet.float_lanes) ||
      block * 2 == sheet.float_lanes)
    return block;
  const double plain = busy_lanes_of_positions(s.out_height * s.out_width, sheet);
  const ConvAlgorithm chosen = choose_conv_algorithm(s, sheet);
  const double saved = chosen.kind == ConvAlgorithm::Kind::kWinograd
                           ? direct_cost(s, sheet) / winograd_cost(s, chosen.tile_size, sheet)
                           : 1;
  return busy_lanes(block, sheet) * saved >= kPlain * plain ? block : 1;
}

TransposeBlocks transpose_blocks(const ConvShape& s, const DeviceSheet& sheet) {
  // Rows in plain layouts are copied between zeros, read unaligned and stored element by element.
  constexpr double kPlain = 0.75;
  const bool depthwise = s.groups > 1 && s.groups == s.in_channels && s.groups == s.out_channels;
  const int64_t groups = depthwise ? 1 : s.groups;
  const TransposeBlocks blocks{channel_block(s.in_channels / groups, sheet),
                               channel_block(s.out_channels / groups, sheet)};
  const int64_t positions = tiles(s.out_width, s.stride_width);
  const double packed = busy_lanes(blocks.out, sheet), plain = busy_lanes_of_positions(positions, sheet);
  return blocks.out > 1 && packed >= kPlain * plain ? blocks : TransposeBlocks{};
}

int64_t dense_block(int64_t units, const DeviceSheet& sheet) {
  const int64_t lanes = sheet.float_lanes;
  return units > lanes / 2 ? lanes : largest_divisor(units, lanes);
}

}  // namespace baton
