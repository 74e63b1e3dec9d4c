// Checksums that detect damaged files and caches; not cryptographic.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace baton {

/// XXH64: several bytes per cycle, so that half a gigabyte of constants is checked in well under 0.1 s.
uint64_t checksum64(const void* data, size_t bytes, uint64_t seed = 0);

/// 128 bits that stand for the content they were computed from: two contents with one digest do not occur.
struct Digest {
  uint64_t high = 0, low = 0;
  std::string hex() const;  ///< 32 digits
  friend auto operator<=>(const Digest&, const Digest&) = default;
};
Digest digest128(const void* data, size_t bytes);

}  // namespace baton

template <>
struct std::hash<baton::Digest> {
  size_t operator()(const baton::Digest& digest) const { return digest.low; }
};
