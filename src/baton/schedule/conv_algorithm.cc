#include "baton/schedule/conv_algorithm.h"

#include <algorithm>
#include <cstdio>

#include "baton/ir/rules/conv_positions.h"
#include "baton/schedule/layout_cost.h"

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

/// One axis of a tile: F(m, taps). Along an axis of one tap there is nothing to transform.
struct TileAxis {
  TileAxis(int64_t taps, int64_t tile) : m(taps > 1 ? tile : 1), a(m + taps - 1) {}
  int64_t m, a;
  /// Multiply-adds per element of a pass over this axis: the numbers of a matrix row that are not 0.
  double combined() const { return a == 1 ? 0 : a == 4 ? 2 : a == 6 ? 3.5 : static_cast<double>(a) - 2; }
};

double winograd_cost(const ConvShape& s, int tile, const DeviceSheet& sheet) {
  const double lanes = sheet.float_lanes;
  const TileAxis down(s.kernel_height, tile), across(s.kernel_width, tile);
  const auto count =
      static_cast<double>(s.batch * tiles(s.out_height, down.m) * tiles(s.out_width, across.m));
  const auto products = static_cast<double>(down.a * across.a);
  const double gemm = count * products * s.in_channels * s.out_channels / lanes;
  // A transform is a pass of small dense combinations over each axis, and a load and a store per element.
  const double passes = (down.combined() + across.combined()) / 2;
  const double first_results = static_cast<double>(
      s.kernel_height > 1 ? down.m * across.a : down.a * across.m);  // after one of the passes
  const double transform_in = count * s.in_channels / lanes * products * (passes + 2);
  const double transform_out = count * s.out_channels / lanes * (products + first_results) / 2 * (passes + 2);
  return overlapped(gemm, products * s.in_channels * s.out_channels * 4, sheet) + transform_in +
         transform_out;
}

/// Whether the error of such tiles is at most that of F(4,3) over two axes.
bool is_exact_enough(const ConvShape& s, int tile) {
  const TileAxis down(s.kernel_height, tile), across(s.kernel_width, tile);
  constexpr int64_t kMostOfTwo = 6, kMostOfOne = 10;
  return std::max(down.a, across.a) <= (std::min(down.a, across.a) > 1 ? kMostOfTwo : kMostOfOne);
}

std::string tile_name(const ConvShape& s, int tile) {
  const auto taps = [](int64_t count) { return std::to_string(count); };
  const std::string kernel = s.kernel_height == s.kernel_width
                                 ? taps(s.kernel_width)
                                 : taps(s.kernel_height) + "x" + taps(s.kernel_width);
  return "F(" + std::to_string(tile) + "," + kernel + ")";
}

std::string megas(double fmas) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2fM", fmas / 1e6);
  return text;
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
  const int half = sheet.float_lanes / 2,
            lanes = sheet.halves_at_full_rate && block <= half ? half : sheet.float_lanes;
  return double(block) / lanes * (block % 4 == 0 || block <= 2 ? 1 : kPieces);
}

/// The same of vectors of positions.
double busy_lanes_of_positions(int64_t positions, const DeviceSheet& sheet) {
  return double(positions) / double(tiles(positions, sheet.float_lanes) * sheet.float_lanes);
}

}  // namespace

namespace {

/// Why Winograd's algorithm does not apply, or empty.
std::string refuses_winograd(const ConvShape& s) {
  constexpr int64_t kMostTaps = 7;
  if (std::max(s.kernel_height, s.kernel_width) > kMostTaps)
    return "Winograd needs a kernel of at most 7 taps along an axis";
  if (s.kernel_height * s.kernel_width == 1) return "the kernel has one tap";
  if (s.stride_height != 1 || s.stride_width != 1) return "Winograd needs strides of 1";
  if (s.dilation_height != 1 || s.dilation_width != 1) return "Winograd needs dilations of 1";
  if (s.groups != 1) return "Winograd needs one group";
  if (!s.float32) return "Winograd needs float32";
  if (s.in_channels < kWinogradChannels || s.out_channels < kWinogradChannels)
    return "fewer than " + std::to_string(kWinogradChannels) + " channels";
  return "";
}

}  // namespace

ConvAlgorithm choose_conv_algorithm(const ConvShape& s, const DeviceSheet& sheet) {
  const double sum = direct_cost(s, sheet);
  ConvAlgorithm found{ConvAlgorithm::Kind::kDirect, 0, "", sum, sum};
  if (const std::string why = refuses_winograd(s); !why.empty()) {
    found.reason = "direct: " + why;
    return found;
  }
  std::string costs = "expected cost in vector multiply-adds: direct " + megas(sum);
  for (const int tile : {2, 4}) {
    if (!is_exact_enough(s, tile)) continue;
    const double cost = winograd_cost(s, tile, sheet);
    costs += ", " + tile_name(s, tile) + " " + megas(cost);
    if (cost < found.cost) found.cost = cost, found.tile_size = tile;
  }
  if (found.tile_size > 0) found.kind = ConvAlgorithm::Kind::kWinograd;
  found.reason =
      (found.tile_size > 0 ? "Winograd " + tile_name(s, found.tile_size) : "direct") + ": " + costs;
  return found;
}

std::optional<ConvAlgorithm> winograd_algorithm(const ConvShape& s, const DeviceSheet& sheet) {
  if (!refuses_winograd(s).empty()) return std::nullopt;
  const double sum = direct_cost(s, sheet);
  std::optional<ConvAlgorithm> found;
  for (const int tile : {2, 4}) {
    if (!is_exact_enough(s, tile)) continue;
    const double cost = winograd_cost(s, tile, sheet);
    if (found && cost >= found->cost) continue;
    found = {ConvAlgorithm::Kind::kWinograd, tile, "Winograd " + tile_name(s, tile) + " was asked for", cost,
             sum};
  }
  return found;
}

int64_t channel_block(int64_t channels, const DeviceSheet& sheet) {
  const int64_t block = largest_divisor(channels, sheet.float_lanes), half = sheet.float_lanes / 2;
  return sheet.halves_at_full_rate && block < sheet.float_lanes && channels % half == 0 ? half : block;
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
      block * 2 == sheet.float_lanes || (block == s.out_channels && block * 2 == kPacked))
    return block;
  const double plain = busy_lanes_of_positions(s.out_height * s.out_width, sheet);
  const ConvAlgorithm chosen = choose_conv_algorithm(s, sheet);
  const double saved = chosen.kind == ConvAlgorithm::Kind::kWinograd ? chosen.direct_cost / chosen.cost : 1;
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

namespace {

/// Vector multiply-adds in whose time a vector is copied, to another layout for instance.
constexpr double kMove = 10;

double data_elements(const ConvShape& s, const LayerSurroundings& around) {
  return double(s.batch * s.in_channels) * double(around.in_height * around.in_width);
}
double result_elements(const ConvShape& s) {
  return double(s.batch * s.out_channels) * double(s.out_height * s.out_width);
}

/// Expected cost of the kernel in blocks of channels, with the layout_transforms that it
/// needs.
double blocked_cost(const ConvShape& s, const LayerSurroundings& around, const DeviceSheet& sheet) {
  // Shares of the peak. When channels are read one by one, each comes from another page and fills few lines.
  constexpr double kSums = 0.9, kScattered = 0.6;
  constexpr int64_t kFewBlocks = 8;
  const ConvAlgorithm chosen = choose_conv_algorithm(s, sheet);
  const int64_t in_block = channel_block(s.in_channels, sheet);
  const bool scattered = in_block * 4 <= sheet.float_lanes && s.in_channels / in_block > kFewBlocks &&
                         s.kernel_height * s.kernel_width > 1;
  const double sums = chosen.kind == ConvAlgorithm::Kind::kWinograd
                          ? winograd_cost(s, chosen.tile_size, sheet)
                          : direct_cost(s, sheet) / (scattered ? kScattered : kSums);
  const double moved =
      (around.data_blocked ? 0 : data_elements(s, around)) + (around.result_blocked ? 0 : result_elements(s));
  return sums / busy_lanes(channel_block(s.out_channels, sheet), sheet) + kMove * moved / sheet.float_lanes;
}

/// The same in plain layouts, by the template "conv_positions".
double plain_cost(const ConvShape& s, const LayerSurroundings& around, const DeviceSheet& sheet) {
  constexpr double kSums = 0.8;  // of the peak: vectors are read at any address
  constexpr int64_t kTile = 24;  // positions of a register tile, mostly
  const bool strided = s.stride_height * s.stride_width > 1;
  const auto p =
      conv_positions(join_pixels({{s.batch, s.in_channels, around.in_height, around.in_width},
                                  {s.out_channels, s.in_channels / s.groups, s.kernel_height, s.kernel_width},
                                  {s.batch, s.out_channels, s.out_height, s.out_width},
                                  {s.stride_height, s.stride_width},
                                  {s.dilation_height, s.dilation_width},
                                  {around.pad_top, around.pad_left},
                                  s.groups}));
  if (!p) return 1e300;
  const int64_t summed = p->bands * tiles(p->positions(), kTile) * kTile * p->tiles * p->tile * s.groups;
  const double busy = double(s.out_height * s.out_width * s.out_channels) / double(summed);
  const double copied = !p->one_pixel ? data_elements(s, around)
                        : strided     ? double(s.batch * s.in_channels * s.out_height * s.out_width)
                                      : 0;
  const double moved =
      (around.data_blocked ? data_elements(s, around) : 0) + (around.result_blocked ? result_elements(s) : 0);
  return direct_cost(s, sheet) / (kSums * busy) + kMove * (copied + moved) / sheet.float_lanes;
}

}  // namespace

bool pays_in_blocks(const ConvShape& s, const LayerSurroundings& around, const DeviceSheet& sheet) {
  constexpr double kGain = 0.9;  // that plain layouts must promise
  constexpr double kSmall =
      1e5;  // vector multiply-adds, some 15 us: such layers keep the blocks that TVM uses
  if (around.data_blocked && around.result_blocked) return true;
  if (direct_cost(s, sheet) < kSmall) return true;
  if (s.groups == 1) return plain_cost(s, around, sheet) >= kGain * blocked_cost(s, around, sheet);
  // A depthwise window of one pixel is a product per element, in any layout: less than a transform.
  return s.groups != s.in_channels || s.kernel_height * s.kernel_width > 1;
}

}  // namespace baton
