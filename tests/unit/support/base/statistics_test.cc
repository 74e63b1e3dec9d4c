#include "baton/support/base/statistics.h"

#include <gtest/gtest.h>

namespace baton {
namespace {

TEST(Medians, AreTheMiddle) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
}

TEST(Percentiles, AreSamples) {
  EXPECT_EQ(percentile({}, 0.5), 0);
  EXPECT_EQ(percentile({3}, 0.99), 3);
  EXPECT_EQ(percentile({4, 1, 3, 2}, 0.5), 2);
  std::vector<double> hundred;
  for (int i = 100; i >= 1; --i) hundred.push_back(i);
  EXPECT_EQ(percentile(hundred, 0.99), 99);
  EXPECT_EQ(percentile(hundred, 0.9), 90);
}

TEST(Quantiles, LieBetweenTwoValues) {
  const double sorted[] = {1, 2, 4};
  EXPECT_EQ(quantile({}, 0.5), 0);
  EXPECT_EQ(quantile(std::span(sorted).first(1), 0.3), 1);
  EXPECT_EQ(quantile(sorted, 0), 1);
  EXPECT_EQ(quantile(sorted, 0.25), 1.5);
  EXPECT_EQ(quantile(sorted, 0.75), 3);
  EXPECT_EQ(quantile(sorted, 1), 4);
  EXPECT_EQ(quantile(sorted, 2), 4);
}

}  // namespace
}  // namespace baton
