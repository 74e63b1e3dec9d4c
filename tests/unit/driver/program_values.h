#pragma once
// Values of programs, for tests that run them in two ways.
#include <string>

#include <gtest/gtest.h>

#include "baton/runtime/values/value.h"
#include "baton/support/base/tensor_rule.h"

namespace baton::test {

inline program::Value number(int32_t value) {
  return program::tensor_value(NDArray::of<int32_t>({}, std::vector<int32_t>{value}, DType::int_(32)));
}
inline int32_t number_of(const program::Value& value) {
  return program::as_value<program::TensorValue>(value)->array().as<int32_t>()[0];
}
inline program::Value truth(bool value) {
  return program::tensor_value(NDArray::of<uint8_t>({}, std::vector<uint8_t>{value}, DType::bool_()));
}
inline program::Value floats(const std::string& name, Shape shape) {
  return program::tensor_value(tensor_value(name, std::move(shape), DType::float_(32)));
}

/// Floats are near each other, everything else is equal.
inline void expect_equal(const program::Value& a, const program::Value& b) {
  ASSERT_TRUE(a && b);
  ASSERT_EQ(a->kind(), b->kind());
  const std::vector<program::Value>*one = nullptr, *other = nullptr;
  if (const auto* tensor = program::as_value<program::TensorValue>(a)) {
    const NDArray &left = tensor->array(), &right = program::as_value<program::TensorValue>(b)->array();
    ASSERT_EQ(left.shape(), right.shape());
    ASSERT_EQ(left.dtype(), right.dtype());
    if (left.dtype() != DType::float_(32)) {
      EXPECT_TRUE(left.equal_bytes(right));
      return;
    }
    for (int64_t i = 0; i < left.size(); ++i) {
      const float x = left.as<float>()[i], y = right.as<float>()[i];
      if (x == y || (x != x && y != y)) continue;  // infinities, and NaN beside NaN
      ASSERT_NEAR(x, y, 1e-4 * std::max(1.0, std::abs(static_cast<double>(x))));
    }
  } else if (const auto* tuple = program::as_value<program::TupleValue>(a)) {
    one = &tuple->fields();
    other = &program::as_value<program::TupleValue>(b)->fields();
  } else if (const auto* data = program::as_value<program::DataValue>(a)) {
    EXPECT_EQ(data->tag(), program::as_value<program::DataValue>(b)->tag());
    one = &data->fields();
    other = &program::as_value<program::DataValue>(b)->fields();
  }
  if (!one) return;
  ASSERT_EQ(one->size(), other->size());
  for (size_t i = 0; i < one->size(); ++i) expect_equal((*one)[i], (*other)[i]);
}

}  // namespace baton::test
