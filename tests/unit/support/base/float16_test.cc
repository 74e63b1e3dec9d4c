#include "baton/support/base/float16.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace baton {
namespace {

TEST(Float16, EveryHalfSurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = half_to_float(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(half_to_float(half_from_float(value))));
    } else {
      ASSERT_EQ(half_from_float(value), half) << value;
    }
  }
}

TEST(Float16, RoundsToNearestEven) {
  for (uint16_t half = 0; half < 0x7bff; ++half) {
    const double low = half_to_float(half), high = half_to_float(half + 1), middle = (low + high) / 2;
    ASSERT_EQ(half_from_double(middle), half + (half & 1));
    ASSERT_EQ(half_from_double(std::nextafter(middle, 0.0)), half);
    ASSERT_EQ(half_from_double(std::nextafter(middle, 1e9)), half + 1);
    ASSERT_EQ(half_from_double(-middle), 0x8000 | (half + (half & 1)));
  }
}

TEST(Float16, Limits) {
  EXPECT_EQ(half_from_double(65504), 0x7bff);
  EXPECT_EQ(half_from_double(65519.99), 0x7bff);
  EXPECT_EQ(half_from_double(65520), 0x7c00);
  EXPECT_EQ(half_from_double(1e300), 0x7c00);
  EXPECT_EQ(half_from_double(-std::numeric_limits<double>::infinity()), 0xfc00);
  EXPECT_EQ(half_from_double(0x1p-25), 0);
  EXPECT_EQ(half_from_double(0x1.0001p-25), 1);
  EXPECT_EQ(half_from_double(std::numeric_limits<double>::denorm_min()), 0);
}

TEST(BFloat16, RoundsToNearestEven) {
  EXPECT_EQ(bfloat_from_double(1.0), 0x3f80);
  EXPECT_EQ(bfloat_from_double(1.0 + 0x1p-8), 0x3f80);
  EXPECT_EQ(bfloat_from_double(1.0 + 3 * 0x1p-8), 0x3f82);
  EXPECT_EQ(bfloat_from_double(1e39), 0x7f80);
  EXPECT_TRUE(std::isnan(bfloat_to_float(bfloat_from_double(std::nan("")))));
  EXPECT_EQ(bfloat_to_float(bfloat_from_double(-2.5)), -2.5f);
}

}  // namespace
}  // namespace baton
