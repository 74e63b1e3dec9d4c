#include "baton/ir/layout.h"

#include <gtest/gtest.h>

namespace baton {
namespace {

Layout layout(const char* text) { return *Layout::parse(text); }

using Ints = std::vector<int64_t>;

TEST(Layout, ReadsAndPrints) {
  for (const char* text :
       {"NCHW", "NHWC", "NCHW16c", "OIHW4i16o", "OIHW16i16o4i", "HWIO", "GOIHW", "NC", "C"})
    EXPECT_EQ(layout(text).str(), text);
  for (const char* text :
       {"", "NCHWC", "NCHWc", "NCHW0c", "NHW16c", "16NCHW", "NCHW16", "NC-W", "nchw", "NCHW99999999999c"})
    EXPECT_FALSE(Layout::parse(text)) << text;
}

TEST(Layout, Axes) {
  const Layout packed = layout("OIHW16i16o4i");
  EXPECT_EQ(packed.rank(), 7);
  EXPECT_EQ(packed.find('H'), 2);
  EXPECT_EQ(packed.find('C'), -1);
  EXPECT_EQ(packed.factor('I'), 64);
  EXPECT_EQ(packed.factor('H'), 1);
  EXPECT_TRUE(packed.is_split('O'));
  EXPECT_FALSE(packed.is_split('W'));
  EXPECT_EQ(packed.weight(1), 64);
  EXPECT_EQ(packed.weight(4), 4);
  EXPECT_EQ(packed.weight(6), 1);
  EXPECT_EQ(packed.primal(), "OIHW");
  EXPECT_TRUE(packed.convertible(layout("HWIO")));
  EXPECT_FALSE(packed.convertible(layout("NCHW")));
}

TEST(Layout, Shapes) {
  EXPECT_EQ(convert_shape(Ints{1, 8, 4, 5}, layout("NCHW"), layout("NCHW4c")), (Ints{1, 2, 4, 5, 4}));
  EXPECT_EQ(convert_shape(Ints{1, 2, 4, 5, 4}, layout("NCHW4c"), layout("NHWC")), (Ints{1, 4, 5, 8}));
  EXPECT_EQ(convert_shape(Ints{1, 6, 4, 5}, layout("NCHW"), layout("NCHW4c")), (Ints{1, 2, 4, 5, 4}));
  EXPECT_EQ(convert_shape(Ints{64, 64, 3, 3}, layout("OIHW"), layout("OIHW16i16o4i")),
            (Ints{4, 1, 3, 3, 16, 16, 4}));
  const std::vector<Dim> dynamic{Dim::any(), 8, Dim::any(), 5};
  EXPECT_EQ(convert_shape(dynamic, layout("NCHW"), layout("NHWC4c")),
            (std::vector<Dim>{Dim::any(), Dim::any(), 5, 2, 4}));
}

TEST(Layout, IndicesGoThereAndBack) {
  for (const auto& [a, b] :
       {std::pair{"NCHW", "NHWC4c"}, {"NCHW2c", "NCHW4c"}, {"OIHW4i16o", "OIHW2i8o2i"}, {"NCHW", "NCHW"}}) {
    const Layout from = layout(a), to = layout(b);
    Ints shape(from.rank(), 3);
    for (int i = 0; i < from.rank(); ++i)
      shape[i] = from.axes()[i].is_primal() ? (from.axes()[i].letter == 'C' ? 8 : 4) : from.axes()[i].factor;
    Ints index(shape.size(), 0);
    for (int64_t element = 0; element < 500; ++element) {
      int64_t rest = element * 7919;
      for (size_t i = 0; i < shape.size(); ++i) {
        index[i] = rest % shape[i];
        rest /= shape[i];
      }
      const Ints there = convert_index<int64_t>(index, from, to);
      EXPECT_EQ(convert_index<int64_t>(there, to, from), index) << a << " " << b;
    }
  }
  EXPECT_EQ(convert_index<int64_t>({0, 1, 2, 3, 2}, layout("NCHW4c"), layout("NHWC")), (Ints{0, 2, 3, 6}));
}

}  // namespace
}  // namespace baton
