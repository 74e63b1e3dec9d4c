// The way a kernel is split, as it is kept in the cache.
#include <gtest/gtest.h>

#include "baton/profile/inside/inside_bench.h"

namespace baton {
namespace {

TEST(SplitPlan, ReadsWhatItWrote) {
  const SplitPlan plan{false, true, {"b0_nn_conv2d__pad", "b0_nn_conv2d__in_xf"}};
  EXPECT_EQ(SplitPlan::from_text(plan.text()), plan);
  EXPECT_EQ(SplitPlan::from_text(SplitPlan().text()), SplitPlan());
}

TEST(SplitPlan, DamagedTextsAreNone) {
  const std::string text = SplitPlan{true, false, {"a"}}.text();
  for (size_t i = 0; i < text.size() - 1; ++i) EXPECT_FALSE(SplitPlan::from_text(text.substr(0, i))) << i;
  EXPECT_FALSE(SplitPlan::from_text("split 2\nwithin 1\nend\n"));
  EXPECT_FALSE(SplitPlan::from_text("split 1\nwithin 2\nend\n"));
  EXPECT_FALSE(SplitPlan::from_text("split 1\nelse 1\nend\n"));
}

}  // namespace
}  // namespace baton
