#pragma once
// Reproducible random choices: the same on every machine, of a seed and a name.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <vector>

namespace baton {

class Choice {
 public:
  /// Different names give independent choices.
  Choice(uint64_t seed, std::string_view name)
      : state_(seed * 0x9e3779b97f4a7c15ULL + 0x632be59bd9b4e019ULL) {
    for (const char letter : name) state_ = (state_ ^ static_cast<uint8_t>(letter)) * 0x100000001b3ULL;
    bits();
  }

  /// 64 random bits (splitmix64).
  uint64_t bits() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  /// In [0, 1).
  double fraction() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  bool chance(double probability) { return fraction() < probability; }
  /// In [least, most].
  int64_t between(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(bits() % static_cast<uint64_t>(most - least + 1));
  }
  /// In [least, most], log-uniform, a multiple of `step`; `least` is one.
  int64_t scaled(int64_t least, int64_t most, int64_t step = 1) {
    const double low = std::log(static_cast<double>(least)), high = std::log(static_cast<double>(most));
    const auto value = static_cast<int64_t>(std::exp(low + (high - low) * fraction()));
    return std::max(least, value / step * step);
  }
  template <class T>
  T of(std::initializer_list<T> all) {
    return *std::next(all.begin(), static_cast<std::ptrdiff_t>(bits() % all.size()));
  }
  size_t index(size_t count) { return static_cast<size_t>(bits() % count); }
  template <class T>
  const T& of(const std::vector<T>& all) {
    return all[index(all.size())];
  }

 private:
  uint64_t state_;
};

}  // namespace baton
