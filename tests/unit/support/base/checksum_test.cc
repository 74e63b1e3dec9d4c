#include "baton/support/base/checksum.h"

#include <string>

#include <gtest/gtest.h>

namespace baton {
namespace {

uint64_t of(const std::string& text, uint64_t seed = 0) { return checksum64(text.data(), text.size(), seed); }

// Values of the reference implementation of XXH64, lengths on all sides of its 4, 8 and 32 byte steps.
TEST(Checksum, EqualsTheReference) {
  EXPECT_EQ(of(""), 0xef46db3751d8e999u);
  EXPECT_EQ(of("a", 0), 0xd24ec4f1a98c6e5bu);
  EXPECT_EQ(of("abc", 0), 0x44bc2cf5ad770999u);
  EXPECT_EQ(of("abcdefgh", 7), 0x1561b8f75328fe71u);
  EXPECT_EQ(of("abcdefghijkl", 0), 0x4b09b7d3a233d4b3u);
  EXPECT_EQ(of("01234567890123456789012345678901", 0), 0xe5cc9f411ea110bau);
  EXPECT_EQ(of("012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012"
               "3456789xyz",
               42),
            0xf43350c0710a6f9u);
}

TEST(Checksum, SeesEveryBit) {
  std::string text(100, 'x');
  const uint64_t before = of(text);
  for (char& c : text) {
    for (int bit = 0; bit < 8; ++bit) {
      c = static_cast<char>(c ^ (1 << bit));
      EXPECT_NE(of(text), before);
      c = static_cast<char>(c ^ (1 << bit));
    }
  }
}

}  // namespace
}  // namespace baton
