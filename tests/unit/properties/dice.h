#pragma once
// Random choices of generators of programs: the same seed gives the same ones.
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace baton::properties {

class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}
  int below(int limit) { return static_cast<int>(random_() % static_cast<uint64_t>(limit)); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& one_of(const std::vector<T>& items) {
    return items[static_cast<size_t>(below(static_cast<int>(items.size())))];
  }
  std::string word(const std::vector<std::string>& words) { return one_of(words); }

 private:
  std::mt19937_64 random_;
};

/// "2, 3"
inline std::string list_text(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}
/// "Tensor[(2, 3), float32]"
inline std::string tensor_text(const std::vector<int>& shape, const std::string& dtype = "float32") {
  return "Tensor[(" + list_text(shape) + "), " + dtype + "]";
}

}  // namespace baton::properties
