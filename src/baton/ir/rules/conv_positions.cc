#include "baton/ir/rules/conv_positions.h"

#include <algorithm>
#include <utility>

namespace baton {

namespace {

/// The sums of a band stay in the second-level cache; those of a group whose weights lie there, too, and are
/// read for every band, in the first-level cache.
constexpr int64_t kSumBytes = 192 << 10, kFewSumBytes = 20 << 10, kFewWeights = 128 << 10;
constexpr int64_t kChunkBytes = 16 << 10;  ///< of data that one tile of positions reads
constexpr int64_t kLineBytes = 192;        ///< of one row that one tile of positions reads
constexpr int kGranule = 24;               ///< positions of a tile: sums of a band are a multiple
constexpr int64_t kTwoTasks = 1 << 20;     ///< multiply-adds that are worth a second task

/// Multiply-adds that a band should have: tasks cost some, too.
constexpr int64_t kBandWork = 1 << 16;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

bool has_zero(const std::vector<int64_t>& extents) { return std::ranges::find(extents, 0) != extents.end(); }

/// Channels per register tile: 4 of them with 3 vectors of positions have the best ratio of multiply-adds to
/// loads with 16 registers; others where a group's channels are no multiple.
int channel_tile(int channels) {
  constexpr std::array<double, 7> kCost{0, 1.6, 1.3, 1.15, 1, 1.08, 1.1};  // per channel
  int best = 1;
  double least = 1e30;
  for (int tile = std::min(6, channels); tile > 0; --tile) {
    const double cost = ceil_div(channels, tile) * tile * kCost[tile];
    if (cost < least) least = cost, best = tile;
  }
  return best;
}

/// Rows of a band: as many as the cache holds the sums of, with the fewest positions that nobody reads.
int band_rows(const ConvPositions& p) {
  const int64_t row_bytes = int64_t{p.tiles} * p.tile * p.pitch * 4;
  int64_t weights = int64_t{p.out_per_group} * p.in_per_group;
  for (const int extent : p.kernel) weights *= extent;
  const int64_t work = weights * p.out[1] * p.out[2];
  // Rows of data that neighbouring bands share are copied for each.
  const int64_t held = std::max<int64_t>((weights * 4 <= kFewWeights ? kFewSumBytes : kSumBytes) / row_bytes,
                                         std::min<int64_t>(4 * p.reach[1], kSumBytes / row_bytes));
  const int64_t busy = ceil_div(kBandWork, weights * p.out[2]);
  int most = static_cast<int>(std::clamp<int64_t>(std::max(held, busy), 1, p.out[1]));
  if (int64_t{p.batch} * p.groups * p.out[0] == 1 && work >= kTwoTasks && p.out[1] > 1)
    most = std::min(most, (p.out[1] + 1) / 2);
  int best = most;
  double least = 1e30;
  for (int band = most; band >= std::max(1, most / 2); --band) {
    const int64_t positions = ceil_div((band - 1) * p.pitch + p.out[2], kGranule) * kGranule;
    const double cost = ceil_div(p.out[1], band) * (positions + 0.05 * p.reach[1] * p.pitch);
    if (cost < least) least = cost, best = band;
  }
  return best;
}

/// ConvPositions::row: the results of several rows of the data are one row.
int joined_row(const ConvPositions& p) {
  const ConvPositions::Extents ones{1, 1, 1}, none{0, 0, 0};
  if (p.count != 2 || p.kernel != ones || p.before != none || p.out[1] != 1) return 0;
  const int rows = (p.in[1] - 1) / p.stride[1] + 1, row = (p.in[2] - 1) / p.stride[2] + 1;
  return rows > 1 && p.out[2] == rows * row ? row : 0;
}

/// `step` leads from one of `count` positions to the next: of a single one it makes no difference, and may be
/// as long as it likes.
int64_t near(int64_t step, int64_t count) { return count == 1 && step > INT16_MAX ? 1 : step; }

}  // namespace

ConvPositionsOf as_convolution(ConvPositionsOf transposed) {
  ConvPositionsOf conv = std::move(transposed);
  for (size_t k = 0; k < conv.before.size(); ++k)
    conv.before[k] = (conv.weight[2 + k] - 1) * conv.dilation[k] - conv.before[k];
  const int64_t in = conv.weight[0], out_per_group = conv.weight[1];
  conv.weight[0] = out_per_group * conv.groups, conv.weight[1] = conv.groups < 1 ? 0 : in / conv.groups;
  return conv;
}

ConvPositionsOf join_pixels(ConvPositionsOf conv) {
  const auto each_is = [](const std::vector<int64_t>& values, int64_t wanted) {
    return std::ranges::all_of(values, [&](int64_t value) { return value == wanted; });
  };
  if (conv.strides.size() != 2 || conv.weight.size() != 4 || conv.weight[2] * conv.weight[3] != 1 ||
      !each_is(conv.before, 0))
    return conv;
  const int64_t pixels = conv.out[2] * conv.out[3];
  conv.data = {conv.data[0], conv.data[1], 1, pixels}, conv.out = {conv.out[0], conv.out[1], 1, pixels};
  conv.strides = {1, 1};
  return conv;
}

std::optional<ConvPositions> conv_positions(const ConvPositionsOf& given) {
  ConvPositionsOf conv = given;
  for (size_t k = 0; k < conv.strides.size(); ++k) {
    conv.strides[k] = near(conv.strides[k], conv.out[2 + k]);
    conv.dilation[k] = near(conv.dilation[k], conv.weight[2 + k]);
    if (std::max(conv.strides[k], conv.dilation[k]) > INT32_MAX) return std::nullopt;
  }
  if (has_zero(conv.data) || has_zero(conv.weight) || has_zero(conv.out) || conv.groups < 1)
    return std::nullopt;
  if (std::ranges::any_of(conv.before, [](int64_t before) { return before < 0; })) return std::nullopt;
  if (conv.weight[0] != conv.out[1] || conv.weight[1] * conv.groups != conv.data[1] ||
      conv.out[1] % conv.groups != 0)
    return std::nullopt;
  ConvPositions p;
  p.count = static_cast<int>(conv.strides.size());
  p.batch = static_cast<int>(conv.data[0]), p.groups = static_cast<int>(conv.groups);
  p.in_per_group = static_cast<int>(conv.weight[1]);
  p.out_per_group = static_cast<int>(conv.out[1] / conv.groups);
  if (p.in_per_group == 1 && p.out_per_group == 1) return std::nullopt;
  for (int k = 0; k < p.count; ++k) {
    const int axis = 3 - p.count + k;
    p.in[axis] = static_cast<int>(conv.data[2 + k]), p.out[axis] = static_cast<int>(conv.out[2 + k]);
    p.kernel[axis] = static_cast<int>(conv.weight[2 + k]);
    p.stride[axis] = static_cast<int>(conv.strides[k]);
    p.dilation[axis] = static_cast<int>(conv.dilation[k]);
    p.before[axis] = static_cast<int>(conv.before[k]);
  }
  p.row = joined_row(p);
  for (int axis = 1; axis < 3; ++axis) {
    const bool one = p.kernel[axis] == 1 || p.dilation[axis] % p.stride[axis] == 0;
    p.phases[axis] = one ? 1 : p.stride[axis];
    p.reach[axis] = (p.kernel[axis] - 1) * p.dilation[axis] / p.stride[axis];
  }
  const int needed = p.out[2] + p.reach[2];
  // The zeros behind a row are those before the next one.
  p.pitch = p.stride[2] == 1 ? std::max({p.out[2], p.in[2] + p.before[2], needed - p.before[2]}) : needed;
  for (int axis = 0; axis < 3; ++axis)
    p.padded = p.padded || p.before[axis] > 0 ||
               (p.out[axis] - 1) * p.stride[axis] + (p.kernel[axis] - 1) * p.dilation[axis] >= p.in[axis];
  const ConvPositions::Extents ones{1, 1, 1};
  p.one_pixel = p.row > 0 || (!p.padded && p.kernel == ones && p.stride == ones && p.out[0] * p.out[1] == 1);
  p.tile = channel_tile(p.out_per_group), p.tiles = int(ceil_div(p.out_per_group, p.tile));
  p.band = band_rows(p), p.bands = int(ceil_div(p.out[1], p.band));
  p.band = int(ceil_div(p.out[1], p.bands));
  p.chunk = p.in_per_group;
  if (p.one_pixel) return p;
  const int64_t channel_bytes = kLineBytes * p.phases[1] * p.phases[2] * (p.reach[1] + 1);
  const int64_t most = std::max<int64_t>(kChunkBytes / channel_bytes, 4);
  p.chunk = int(ceil_div(p.in_per_group, ceil_div(p.in_per_group, most)));
  return p;
}

}  // namespace baton
