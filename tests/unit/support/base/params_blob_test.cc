#include "baton/support/base/params_blob.h"

#include <cstring>

#include <gtest/gtest.h>

#include "baton/support/base/tensor_rule.h"

namespace baton {
namespace {

NamedArrays sample() {
  return {{"weight", tensor_value("weight", {2, 3}, DType::float_(32))},
          {"", tensor_value("scalar", {}, DType::int_(64))},
          {"mask", tensor_value("mask", {5}, DType::bool_())},
          {"nothing", tensor_value("nothing", {0, 4}, DType::float_(16))}};
}

std::span<const uint8_t> bytes(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

TEST(ParamsBlob, RoundTrip) {
  const std::string blob = write_params_blob(sample());
  const auto read = read_params_blob(bytes(blob));
  ASSERT_TRUE(read.ok()) << read.status().message;
  const NamedArrays expected = sample();
  ASSERT_EQ(read->size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ((*read)[i].first, expected[i].first);
    EXPECT_TRUE((*read)[i].second.equal_bytes(expected[i].second));
  }
  EXPECT_EQ(write_params_blob(*read), blob);
}

TEST(ParamsBlob, LayoutOfOneTensor) {
  std::string blob;
  append_ndarray_blob(blob, NDArray::zeros({2}, DType::float_(32)));
  EXPECT_EQ(blob.size(), 8 + 8 + 8 + 4 + 4 + 8 + 8 + 8u);
  EXPECT_EQ(static_cast<uint8_t>(blob[0]), 0x3f);
  EXPECT_EQ(blob[28], 2);   // float
  EXPECT_EQ(blob[29], 32);  // bits
}

TEST(ParamsBlob, EveryTruncationIsAnError) {
  const std::string blob = write_params_blob(sample());
  for (size_t length = 0; length < blob.size(); ++length) {
    const auto read = read_params_blob(bytes(blob).subspan(0, length));
    ASSERT_FALSE(read.ok()) << length;
    EXPECT_FALSE(read.status().message.empty());
  }
  EXPECT_FALSE(read_params_blob(bytes(blob + "x")).ok());
}

TEST(ParamsBlob, ADamagedValueIsSeenAndFilesOfTvmHaveNoChecksum) {
  const std::string blob = write_params_blob(sample());
  for (size_t bit = 0; bit < 8 * blob.size(); ++bit) {
    std::string damaged = blob;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    ASSERT_FALSE(read_params_blob(bytes(damaged)).ok()) << bit;
  }
  std::string value = blob;
  value[value.find("weight") + 200] ^= 1;
  EXPECT_EQ(read_params_blob(bytes(value)).status().message,
            "parameter data is damaged: its checksum is another one; copy or save it again");
  std::memset(value.data() + 8, 0, 8);  // as TVM writes it
  EXPECT_TRUE(read_params_blob(bytes(value)).ok());
}

TEST(ParamsBlob, HostileSizesAllocateNothing) {
  std::string blob = write_params_blob(sample());
  std::memset(blob.data() + 8, 0, 8);  // without a checksum, which would see all of it
  // Every 8-byte word in turn becomes huge, or negative, or odd: an error or another value, but no crash.
  for (size_t at = 0; at + 8 <= blob.size(); at += 4) {
    for (const uint64_t value :
         {~uint64_t{0}, uint64_t{1} << 62, uint64_t{1} << 40, uint64_t{0x7fffffff}, uint64_t{3}}) {
      std::string damaged = blob;
      std::memcpy(damaged.data() + at, &value, sizeof value);
      const auto read = read_params_blob(bytes(damaged));
      if (!read.ok()) {
        EXPECT_EQ(read.status().code, StatusCode::kBadData);
      }
    }
  }
}

}  // namespace
}  // namespace baton
