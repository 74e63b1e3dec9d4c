#pragma once
// What a digest is computed from.
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baton/support/base/checksum.h"

namespace baton {

/// Texts and lists begin with their length, so that no two values have the same bytes.
class DigestBytes {
 public:
  void add(std::string_view text) {
    add(text.size());
    bytes_.append(text);
  }
  template <std::integral Integer>
  void add(Integer value) {
    const auto wide = static_cast<int64_t>(value);
    raw(&wide, sizeof wide);
  }
  void add(double value) { raw(&value, sizeof value); }
  void add(const std::optional<double>& value) {
    add(value.has_value());
    add(value.value_or(0));
  }
  void add(const Digest& value) {
    raw(&value.high, sizeof value.high);
    raw(&value.low, sizeof value.low);
  }
  template <class T>
  void add(const std::vector<T>& values) {
    add(values.size());
    raw(values.data(), values.size() * sizeof(T));
  }
  Digest digest() const { return digest128(bytes_.data(), bytes_.size()); }

 private:
  void raw(const void* data, size_t size) { bytes_.append(static_cast<const char*>(data), size); }
  std::string bytes_;
};

}  // namespace baton
