#include "baton/text/map_order.h"

#include <gtest/gtest.h>

namespace baton::text {
namespace {

std::vector<std::string_view> ordered(const std::vector<std::string_view>& keys) {
  std::vector<std::string_view> result;
  for (const size_t at : map_order(keys)) result.push_back(keys[at]);
  return result;
}

using Names = std::vector<std::string_view>;

// As TVM 0.11.1 printed them.
TEST(MapOrder, OfFunctionAttributes) {
  EXPECT_EQ(ordered({"Primitive", "hash", "layout", "out_layout"}),
            (Names{"Primitive", "hash", "layout", "out_layout"}));
  EXPECT_EQ(ordered({"Primitive", "hash", "data_layout", "kernel_layout", "out_layout"}),
            (Names{"hash", "data_layout", "kernel_layout", "Primitive", "out_layout"}));
  EXPECT_EQ(ordered({"Inline", "Compiler", "global_symbol", "Primitive", "hash"}),
            (Names{"Inline", "Compiler", "hash", "global_symbol", "Primitive"}));
  EXPECT_EQ(ordered({"Primitive", "hash", "Compiler", "flt", "i64", "arr", "strs"}),
            (Names{"hash", "Compiler", "i64", "Primitive", "arr", "flt", "strs"}));
}

TEST(MapOrder, EveryKeyOnce) {
  std::vector<std::string> names;
  for (int i = 0; i < 300; ++i) names.push_back("key" + std::to_string(i));
  for (size_t count : {0u, 4u, 5u, 7u, 8u, 15u, 16u, 300u}) {
    const std::vector<size_t> order =
        map_order(Names(names.begin(), names.begin() + static_cast<ptrdiff_t>(count)));
    std::vector<bool> seen(count, false);
    for (size_t at : order) {
      ASSERT_LT(at, count);
      EXPECT_FALSE(seen[at]);
      seen[at] = true;
    }
    EXPECT_EQ(order.size(), count);
  }
}

}  // namespace
}  // namespace baton::text
