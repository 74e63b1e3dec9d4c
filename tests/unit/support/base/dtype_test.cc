#include "baton/support/base/dtype.h"

#include <gtest/gtest.h>

namespace baton {
namespace {

TEST(DType, PrintsWhatItReads) {
  for (const char* name : {"int8", "boolx4", "uint8", "int64", "float16", "float32", "float64x4", "bfloat16",
                           "bool", "handle", "int4"}) {
    const auto type = DType::parse(name);
    ASSERT_TRUE(type.has_value()) << name;
    EXPECT_EQ(type->str(), name);
  }
}

TEST(DType, ShortForms) {
  EXPECT_EQ(DType::parse("int"), DType::int_(32));
  EXPECT_EQ(DType::parse("uint"), DType::uint_(32));
  EXPECT_EQ(DType::parse("float"), DType::float_(32));
  EXPECT_EQ(DType::parse("uint1"), DType::bool_());
  EXPECT_EQ(DType::parse(""), DType::void_());
  EXPECT_EQ(DType::void_().str(), "");
}

TEST(DType, RefusesWhatIsNoType) {
  for (const char* name : {"int0", "int129", "float32x", "float32x0", "float32 ", "flt", "int-8", "x4",
                           "int8x70000", "int8y", "int99999999999"}) {
    EXPECT_FALSE(DType::parse(name).has_value()) << name;
  }
}

TEST(DType, Bytes) {
  EXPECT_EQ(DType::bool_().bytes(), 1u);
  EXPECT_EQ(DType::float_(16).bytes(), 2u);
  EXPECT_EQ(DType::float_(32, 4).bytes(), 16u);
  EXPECT_EQ(DType::void_().bytes(), 0u);
}

}  // namespace
}  // namespace baton
