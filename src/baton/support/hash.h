#pragma once
// Hashes that are equal on every machine and in every run (unlike std::hash).
#include <cstdint>
#include <cstring>
#include <string_view>

namespace baton {

/// Mixes 64-bit words in order.
class Hasher {
 public:
  explicit Hasher(uint64_t seed = 0) : state_(seed ^ 0x9E3779B97F4A7C15ull) {}
  void add(uint64_t word) {
    state_ ^= word;
    state_ *= 0xFF51AFD7ED558CCDull;
    state_ ^= state_ >> 32;
  }
  void add_double(double value) {
    uint64_t word;
    std::memcpy(&word, &value, sizeof word);
    add(word);
  }
  void add_text(std::string_view text) { add_bytes(text.data(), text.size()); }
  void add_bytes(const void* data, size_t size) {
    const char* bytes = static_cast<const char*>(data);
    for (; size >= 8; bytes += 8, size -= 8) {
      uint64_t word;
      std::memcpy(&word, bytes, 8);
      add(word);
    }
    uint64_t tail = size;
    for (size_t i = 0; i < size; ++i) tail = tail << 8 | static_cast<unsigned char>(bytes[i]);
    add(tail);
  }
  uint64_t value() const {
    uint64_t z = state_;
    z ^= z >> 29;
    z *= 0xC4CEB9FE1A85EC53ull;
    return z ^ (z >> 32);
  }

 private:
  uint64_t state_;
};

}  // namespace baton
