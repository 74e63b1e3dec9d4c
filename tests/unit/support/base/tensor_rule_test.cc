#include "baton/support/base/tensor_rule.h"

#include <cmath>

#include <gtest/gtest.h>

#include "baton/support/base/float16.h"

namespace baton {
namespace {

// The published check values of the rule.
TEST(TensorRule, Float32) {
  EXPECT_EQ(tensor_seed("x", Shape{3}, DType::float_(32)), 0xb3097f07bb714821u);
  const NDArray x = tensor_value("x", {3}, DType::float_(32));
  EXPECT_EQ(x.as<float>()[0], 0.10241305828094482f);
  EXPECT_EQ(x.as<float>()[1], 0.6808398962020874f);
  EXPECT_EQ(x.as<float>()[2], 0.19707392156124115f);
}

TEST(TensorRule, Float64Scalar) {
  EXPECT_EQ(tensor_seed("w", Shape{}, DType::float_(64)), 0xb0e07a5823a8a3deu);
  EXPECT_EQ(tensor_value("w", {}, DType::float_(64)).as<double>()[0], -0.5154281898460926);
}

TEST(TensorRule, Integers) {
  EXPECT_EQ(tensor_seed("x0", Shape{2, 2}, DType::int_(32)), 0xe41981c041dd45c1u);
  const NDArray x0 = tensor_value("x0", {2, 2}, DType::int_(32));
  EXPECT_EQ(std::vector<int32_t>(x0.as<int32_t>().begin(), x0.as<int32_t>().end()),
            (std::vector<int32_t>{1, 0, 4, 5}));
  const NDArray x1 = tensor_value("x1", {1, 3}, DType::int_(8));
  EXPECT_EQ(std::vector<int8_t>(x1.as<int8_t>().begin(), x1.as<int8_t>().end()),
            (std::vector<int8_t>{3, 6, 2}));
  const NDArray negative = tensor_value("n", {1000}, DType::int_(16), {-5, -2});
  for (const int16_t value : negative.as<int16_t>()) ASSERT_TRUE(value >= -5 && value < -2) << value;
}

TEST(TensorRule, Bool) {
  const NDArray c = tensor_value("c", {5}, DType::bool_());
  EXPECT_EQ(std::vector<uint8_t>(c.as<uint8_t>().begin(), c.as<uint8_t>().end()),
            (std::vector<uint8_t>{0, 1, 0, 1, 0}));
}

TEST(TensorRule, Float16) {
  const NDArray data = tensor_value("data", {2, 3}, DType::float_(16));
  const float expected[] = {0.60595703125f, -0.1961669921875f, 0.720703125f,
                            0.76611328125f, -0.2081298828125f, -0.1982421875f};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(half_to_float(data.as<uint16_t>()[i]), expected[i]);
}

/// The rule as its text says it, one element at a time.
double by_definition(uint64_t seed, uint64_t i, double lo, double hi) {
  uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  z ^= z >> 31;
  const double u = static_cast<double>(z >> 11) * 0x1p-53;
  volatile double product = (hi - lo) * u;  // rounded here, whatever the compiler may fuse
  return lo + product;
}

TEST(TensorRule, VectorCodeKeepsEveryBit) {
  const Shape shape = {100003};
  const NDArray wide = tensor_value("v", shape, DType::float_(64), {-0.1, 0.1});
  const NDArray narrow = tensor_value("v", shape, DType::float_(32), {-0.1, 0.1});
  const uint64_t seed64 = tensor_seed("v", shape, DType::float_(64)),
                 seed32 = tensor_seed("v", shape, DType::float_(32));
  for (size_t i = 0; i < 100003; ++i) {
    ASSERT_EQ(wide.as<double>()[i], by_definition(seed64, i, -0.1, 0.1)) << i;
    ASSERT_EQ(narrow.as<float>()[i], static_cast<float>(by_definition(seed32, i, -0.1, 0.1))) << i;
  }
}

TEST(TensorRule, ParameterRanges) {
  const auto range = [](const char* name) {
    const NDArray value = parameter_value(name, {4096}, DType::float_(32));
    const auto [lo, hi] = std::minmax_element(value.as<float>().begin(), value.as<float>().end());
    return std::pair(std::round(*lo * 10) / 10, std::round(*hi * 10) / 10);
  };
  EXPECT_EQ(range("conv0_weight"), std::pair(-0.1f, 0.1f));
  EXPECT_EQ(range("bn_moving_var"), std::pair(0.5f, 1.5f));
  EXPECT_EQ(range("bn_gamma"), std::pair(0.5f, 1.5f));
  EXPECT_EQ(range("bn_gamma_2"), std::pair(-0.1f, 0.1f));
}

TEST(TensorRule, TypesWithoutValues) {
  EXPECT_FALSE(tensor_value("h", {1}, DType::make(DType::Code::kHandle, 64)).defined());
  EXPECT_FALSE(tensor_value("v", {1}, DType::void_()).defined());
  EXPECT_FALSE(tensor_value("v", {1}, DType::float_(32, 4)).defined());
  EXPECT_FALSE(tensor_value("v", {-3}, DType::float_(32)).defined());
}

}  // namespace
}  // namespace baton
