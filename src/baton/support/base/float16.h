// IEEE half precision and bfloat16: round to nearest even; supports subnormals, infinities and NaN.
#pragma once

#include <bit>
#include <cstdint>

namespace baton {

/// Rounds once, directly from double: going through float would round twice.
uint16_t half_from_double(double value);
inline uint16_t half_from_float(float value) { return half_from_double(value); }
float half_to_float(uint16_t half);

uint16_t bfloat_from_double(double value);
inline float bfloat_to_float(uint16_t value) {
  return std::bit_cast<float>(static_cast<uint32_t>(value) << 16);
}

}  // namespace baton
