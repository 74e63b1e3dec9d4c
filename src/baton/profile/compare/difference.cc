// Compares results of two backends.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "baton/profile/compare/compare.h"
#include "baton/support/base/float16.h"

namespace baton {
namespace {

constexpr double kTolerance = 1e-4, kHalfTolerance = 2e-2;

/// The values of a tensor of reals.
std::vector<double> reals_of(const NDArray& array) {
  std::vector<double> values;
  const auto add = [&](auto&& elements, auto&& value) {
    for (const auto element : elements) values.push_back(value(element));
  };
  const DType type = array.dtype();
  if (type == DType::float_(32))
    add(array.as<float>(), [](float value) { return static_cast<double>(value); });
  else if (type == DType::float_(64))
    add(array.as<double>(), [](double value) { return value; });
  else if (type == DType::float_(16))
    add(array.as<uint16_t>(), [](uint16_t value) { return static_cast<double>(half_to_float(value)); });
  else
    add(array.as<uint16_t>(), [](uint16_t value) {
      const uint32_t bits = static_cast<uint32_t>(value) << 16;  // bfloat16
      float wide;
      std::memcpy(&wide, &bits, sizeof wide);
      return static_cast<double>(wide);
    });
  return values;
}

bool is_real(DType type) {
  return type == DType::float_(32) || type == DType::float_(64) || type == DType::float_(16) ||
         (type.is_bfloat() && type.bits == 16);
}

}  // namespace

std::string difference_of(const NDArray& expected, const NDArray& got, double& largest) {
  if (expected.shape() != got.shape() || expected.dtype() != got.dtype())
    return describe(got.shape(), got.dtype()) + " instead of " + describe(expected.shape(), expected.dtype());
  char text[160];
  if (!is_real(expected.dtype())) {
    if (expected.equal_bytes(got)) return "";
    largest = std::max(largest, 1.0);
    return "integers differ";
  }
  const std::vector<double> a = reals_of(expected), b = reals_of(got);
  double scale = 0;
  for (const double value : a)
    if (std::isfinite(value)) scale = std::max(scale, std::abs(value));
  const double tolerance = expected.dtype().bits == 16 ? kHalfTolerance : kTolerance;
  size_t worst = a.size();
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const double apart = std::abs(a[i] - b[i]);
    const double relative = scale > 0 && std::isfinite(apart) ? apart / scale : 1;
    if (relative > most) {
      most = relative;
      worst = i;
    }
  }
  largest = std::max(largest, most);
  if (most <= tolerance) return "";
  std::snprintf(text, sizeof text, "element %zu of %s is %.9g instead of %.9g", worst,
                describe(expected.shape(), expected.dtype()).c_str(), b[worst], a[worst]);
  return text;
}

}  // namespace baton
