// The time of a profile, by a made-up clock.
#include "baton/profile/measure/budget.h"

#include <gtest/gtest.h>

namespace baton {
namespace {

TEST(Budget, CompilingDoesNotCount) {
  int64_t now = 5'000'000'000;
  Budget budget(60, [&] { return now; });
  now += 10'000'000'000;
  EXPECT_DOUBLE_EQ(budget.left(), 50);
  {
    const Budget::Pause compiling(&budget);
    now += 400'000'000'000;
    EXPECT_DOUBLE_EQ(budget.left(), 50);
    const Budget::Pause nested(&budget);
    now += 1'000'000'000;
  }
  EXPECT_DOUBLE_EQ(budget.left(), 50);
  now += 70'000'000'000;
  EXPECT_TRUE(budget.spent());
  EXPECT_EQ(budget.left(), 0);
}

TEST(Budget, WhatIsReservedIsNotLeft) {
  int64_t now = 5'000'000'000;
  Budget budget(60, [&] { return now; });
  budget.reserve(20);
  now += 10'000'000'000;
  EXPECT_DOUBLE_EQ(budget.left(), 30);
  now += 40'000'000'000;
  EXPECT_TRUE(budget.spent());
  budget.reserve(0);
  EXPECT_DOUBLE_EQ(budget.left(), 10);
}

TEST(Budget, NoLimitIsNeverSpent) {
  EXPECT_FALSE(Budget().spent());
  const Budget::Pause nothing(nullptr);
}

TEST(Budget, LongKernelsGetMost) {
  // 10 s for kernels of 8, 1 and 1 ms, which wish for 3 s each.
  EXPECT_DOUBLE_EQ(budget_share(10, 8, 10, 0, 3), 3);
  EXPECT_DOUBLE_EQ(budget_share(2, 8, 10, 0, 3), 1.6);
  EXPECT_DOUBLE_EQ(budget_share(0.4, 1, 2, 0, 3), 0.2);
  EXPECT_DOUBLE_EQ(budget_share(0, 1, 2, 0.5, 3), 0) << "what is spent is spent";
  EXPECT_DOUBLE_EQ(budget_share(5, 0, 0, 0, 3), 3) << "nothing is known of the weights";
}

}  // namespace
}  // namespace baton
