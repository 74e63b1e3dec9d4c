#include "baton/support/base/float16.h"

namespace baton {
namespace {

/// Rounds a double to a smaller binary format with `mantissa` explicit bits and exponents from `min_exponent`
/// (of the smallest normal number). Shared by both formats: shifts the double's bits right, rounding to
/// nearest even.
uint16_t narrow(double value, int mantissa, int min_exponent, int max_exponent) {
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const uint16_t sign = static_cast<uint16_t>((bits >> 48) & 0x8000);
  const int exponent_field = static_cast<int>((bits >> 52) & 0x7ff);
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  const uint16_t infinity =
      static_cast<uint16_t>(static_cast<uint32_t>(max_exponent - min_exponent + 2) << mantissa);
  if (exponent_field == 0x7ff) {
    const uint64_t payload = fraction >> (52 - mantissa);
    const uint64_t quiet = fraction ? (uint64_t{1} << (mantissa - 1)) : 0;
    return static_cast<uint16_t>(sign | infinity | payload | quiet);
  }
  const int exponent = exponent_field - 1023;
  if (exponent > max_exponent) return sign | infinity;
  if (exponent < min_exponent - mantissa - 1) return sign;  // below half of the smallest subnormal
  const uint64_t significand = fraction | (uint64_t{1} << 52);
  const int shift = 52 - mantissa + (exponent < min_exponent ? min_exponent - exponent : 0);
  uint64_t rounded = significand >> shift;
  const uint64_t rest = significand & ((uint64_t{1} << shift) - 1);
  const uint64_t half = uint64_t{1} << (shift - 1);
  if (rest > half || (rest == half && (rounded & 1))) ++rounded;
  // A carry out of the significand increments the exponent, up to infinity.
  const uint64_t base =
      exponent < min_exponent ? 0 : static_cast<uint64_t>(exponent - min_exponent) << mantissa;
  return static_cast<uint16_t>(sign | (base + rounded));
}

}  // namespace

uint16_t half_from_double(double value) { return narrow(value, 10, -14, 15); }

uint16_t bfloat_from_double(double value) { return narrow(value, 7, -126, 127); }

float half_to_float(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t exponent = (half >> 10) & 0x1f;
  const uint32_t fraction = half & 0x3ff;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000 | (fraction << 13));
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
}

}  // namespace baton
