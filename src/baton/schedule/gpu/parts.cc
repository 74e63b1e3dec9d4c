#include "baton/schedule/gpu/parts.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace baton {
namespace {

/// Results per axis, and per thread: their sums, with what is loaded for them, fit the registers.
constexpr int kLongestTile = 16, kLongestSecond = 4, kMostResults = 64;
constexpr int kMostParts = 256;

double tiles_along(int extent, int tile) { return std::ceil(static_cast<double>(extent) / tile); }

std::vector<PartsOnGpu> possible_parts(const ProductsOnGpu& p) {
  std::vector<PartsOnGpu> all;
  const auto most = static_cast<int>(std::clamp<int64_t>(p.most_parts, 1, kMostParts));
  for (int tile = 1; tile <= std::min(p.extent, kLongestTile); ++tile)
    for (int second = 1; second <= std::min(p.second_extent, kLongestSecond); second *= 2)
      for (int wide = 1; wide <= (p.wide ? kWideLoad : 1); wide *= kWideLoad)
        for (int split = 1; split <= most; split *= 2)
          if (tile * second * wide <= kMostResults) all.push_back({tile, second, wide, split});
  return all;
}

}  // namespace

// A fit to 1,100 measurements of 120 convolutions of networks on an H100, with 8 terms at once: 21 % off,
// root mean square. Most of the time is what threads wait for loads: so many cycles for each term, and some
// for each sum of its tile; as many threads wait together as there are registers for. Multiply-adds and loads
// of weights take turns. Parts of sums are written, and another launch, most of whose time is the host's,
// reads them.
double expected_cycles(const ProductsOnGpu& p, const PartsOnGpu& parts, const DeviceSheet& sheet) {
  constexpr double kWait = 250, kWaitOfSum = 2.5, kSum = 0.05, kWeight = 2.2;
  constexpr double kLaunch = 6000, kWaitOfParts = 300, kPart = 0.6;
  constexpr double kWarp = 32, kRegistersOfLane = 65536 / kWarp, kOtherRegisters = 30, kMostWarps = 64;
  const double cores = std::max(1, sheet.cores), sums = parts.tile * parts.second * parts.wide;
  const double tiles = static_cast<double>(p.results) / p.extent / p.second_extent / parts.wide *
                       tiles_along(p.extent, parts.tile) * tiles_along(p.second_extent, parts.second);
  const double warps = std::ceil(tiles * parts.split / kWarp / cores),
               together = std::min(kMostWarps, std::floor(kRegistersOfLane / (sums + kOtherRegisters)));
  const double term = std::ceil(warps / together) * (kWait + kWaitOfSum * sums) +
                      warps * (kSum * sums + kWeight * parts.second);
  double cycles = term * static_cast<double>(p.terms) / parts.split;
  if (parts.split > 1)
    cycles += kLaunch + kWaitOfParts * tiles_along(parts.split, kPartsAtOnce) +
              kPart * static_cast<double>(p.results) * parts.split / cores;
  return cycles;
}

std::vector<PartsOnGpu> best_parts(const ProductsOnGpu& p, const DeviceSheet& sheet, double farthest) {
  std::vector<std::pair<double, PartsOnGpu>> all;
  for (const PartsOnGpu& each : possible_parts(p)) all.emplace_back(expected_cycles(p, each, sheet), each);
  std::ranges::stable_sort(all, {}, [](const auto& each) { return each.first; });
  std::vector<PartsOnGpu> best;
  for (const auto& [cycles, parts] : all)
    if (best.empty() || cycles <= farthest * all.front().first) best.push_back(parts);
  return best;
}

}  // namespace baton
