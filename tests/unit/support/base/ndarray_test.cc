#include "baton/support/base/ndarray.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include <gtest/gtest.h>

namespace baton {
namespace {

TEST(NDArray, IsAlignedToVectorsAndPages) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(
        reinterpret_cast<uintptr_t>(NDArray::empty({3}, DType::float_(32)).data()) % NDArray::kAlignment, 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(NDArray::empty({1024 + i}, DType::float_(32)).data()) %
                  NDArray::kPageAlignment,
              0u);
  }
}

TEST(NDArray, TheVectorPastItsEndIsCleared) {
  // Kernels compute with it: what the heap leaves there would be denormal numbers.
  for (const int64_t count : {1, 3, 36, 1023, 1024, 1030, 600000}) {
    void* const used = std::malloc(static_cast<size_t>(count) * 4 + 64);
    std::memset(used, 1, static_cast<size_t>(count) * 4 + 64);
    std::free(used);
    const NDArray array = NDArray::empty({count}, DType::float_(32));
    const auto* past = static_cast<const uint8_t*>(array.data()) + array.bytes();
    EXPECT_TRUE(std::all_of(past, past + 64, [](uint8_t byte) { return byte == 0; })) << count;
  }
}

TEST(NDArray, CopiesShareAndCopyDoesNot) {
  NDArray a = NDArray::zeros({2, 2}, DType::int_(32));
  NDArray b = a;
  NDArray c = a.copy();
  a.as<int32_t>()[3] = 7;
  EXPECT_EQ(b.as<int32_t>()[3], 7);
  EXPECT_EQ(c.as<int32_t>()[3], 0);
  EXPECT_TRUE(a.same_as(b));
  EXPECT_FALSE(a.same_as(c));
  EXPECT_FALSE(a.equal_bytes(c));
}

TEST(NDArray, ScalarAndEmpty) {
  EXPECT_EQ(NDArray::zeros({}, DType::float_(64)).size(), 1);
  const NDArray nothing = NDArray::zeros({4, 0}, DType::float_(64));
  EXPECT_TRUE(nothing.defined());
  EXPECT_EQ(nothing.bytes(), 0u);
  EXPECT_TRUE(nothing.equal_bytes(nothing.copy()));
}

TEST(NDArray, UncountableShapesGiveNothing) {
  EXPECT_FALSE(NDArray::empty({-1}, DType::int_(8)).defined());
  EXPECT_FALSE(NDArray::empty({int64_t{1} << 40, int64_t{1} << 40}, DType::int_(8)).defined());
  EXPECT_FALSE(NDArray::empty({int64_t{1} << 61}, DType::float_(64)).defined());
  EXPECT_FALSE(NDArray::empty({INT64_MAX}, DType::int_(8)).defined());
  EXPECT_FALSE(NDArray::empty({0, int64_t{1} << 40, int64_t{1} << 40}, DType::int_(8)).defined());
}

TEST(NDArray, ViewReleasesOnceAtTheEnd) {
  int released = 0;
  std::array<float, 4> foreign = {1, 2, 3, 4};
  {
    NDArray view = NDArray::view(
        foreign.data(), {4}, DType::float_(32), [](void* count) { ++*static_cast<int*>(count); }, &released);
    NDArray other = view.reshaped({2, 2});
    view = NDArray();
    EXPECT_EQ(released, 0);
    EXPECT_EQ(other.data(), foreign.data());
    EXPECT_FALSE(other.reshaped({3}).defined());
  }
  EXPECT_EQ(released, 1);
  EXPECT_TRUE(NDArray::view(foreign.data(), {4}, DType::float_(32), nullptr, nullptr).defined());
}

TEST(NDArray, OfChecksTheCount) {
  const std::array<float, 2> values = {1, 2};
  EXPECT_TRUE(NDArray::of<float>({2}, values, DType::float_(32)).defined());
  EXPECT_FALSE(NDArray::of<float>({3}, values, DType::float_(32)).defined());
}

TEST(NDArray, Describe) {
  EXPECT_EQ(describe(Shape{1, 3, 16}, DType::float_(32)), "float32[1, 3, 16]");
  EXPECT_EQ(describe(Shape{}, DType::bool_()), "bool[]");
}

}  // namespace
}  // namespace baton
