// Element types, named as in Relay text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace baton {

/// The type of one tensor element: `float32`, `int8x4`, `bool` (one significant bit, stored in a byte), or
/// void.
struct DType {
  /// Values as in DLPack, which file formats (params blob, metadata) use.
  enum class Code : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kHandle = 3, kBFloat = 4 };

  Code code = Code::kHandle;
  uint8_t bits = 0;
  uint16_t lanes = 0;

  static constexpr DType make(Code code, int bits, int lanes = 1) {
    return {code, static_cast<uint8_t>(bits), static_cast<uint16_t>(lanes)};
  }
  static constexpr DType int_(int bits, int lanes = 1) { return make(Code::kInt, bits, lanes); }
  static constexpr DType uint_(int bits, int lanes = 1) { return make(Code::kUInt, bits, lanes); }
  static constexpr DType float_(int bits, int lanes = 1) { return make(Code::kFloat, bits, lanes); }
  static constexpr DType bool_() { return make(Code::kUInt, 1); }
  static constexpr DType void_() { return {}; }

  /// Parses `int8`, `uint1`, `float16x4`, `bfloat16`, `bool`, `handle`; a bare `int`, `uint` or `float` has
  /// 32 bits; `""` and `void` are void. Nullopt for any other text.
  static std::optional<DType> parse(std::string_view text);

  constexpr bool is_int() const { return code == Code::kInt; }
  constexpr bool is_uint() const { return code == Code::kUInt; }
  constexpr bool is_float() const { return code == Code::kFloat; }
  constexpr bool is_bfloat() const { return code == Code::kBFloat; }
  constexpr bool is_handle() const { return code == Code::kHandle && bits != 0; }
  constexpr bool is_bool() const { return code == Code::kUInt && bits == 1; }
  constexpr bool is_void() const { return bits == 0; }
  constexpr bool is_scalar() const { return lanes == 1; }

  /// Bytes of one element in memory, all lanes together.
  constexpr size_t bytes() const { return (static_cast<size_t>(bits) * lanes + 7) / 8; }

  constexpr DType with_lanes(int n) const { return make(code, bits, n); }
  constexpr DType with_bits(int n) const { return make(code, n, lanes); }

  /// The inverse of parse(): void is the empty text.
  std::string str() const;

  friend constexpr bool operator==(const DType&, const DType&) = default;
};

}  // namespace baton

template <>
struct std::hash<baton::DType> {
  size_t operator()(const baton::DType& type) const {
    return (static_cast<size_t>(type.code) << 24) ^ (static_cast<size_t>(type.bits) << 16) ^ type.lanes;
  }
};
