// Splits of several rounds, made up.
#include "baton/profile/inside/inside_rounds.h"

#include <gtest/gtest.h>

namespace baton {
namespace {

InsidePart stage_part(std::vector<int> blocks, std::string stage, double share,
                      InsideMethod method = InsideMethod::kMarkers) {
  InsidePart part;
  part.blocks = std::move(blocks);
  part.stage = std::move(stage);
  part.share = share;
  part.method = method;
  return part;
}

InsidePart ablated_part(int block, std::string stage, double cost, double noise) {
  InsidePart part = stage_part({block}, std::move(stage), cost > noise ? cost : 0, InsideMethod::kAblation);
  part.cost = cost;
  part.below_noise = cost <= noise;
  return part;
}

/// A convolution with a batch_norm in registers.
InsideTimes split_with(double pad, double norm, double plain_us = 100) {
  InsideTimes times;
  times.noise = 0.01;
  times.plain_us = plain_us;
  times.parts = {stage_part({0}, "pad", pad), ablated_part(1, "conv", norm, times.noise)};
  times.parts.push_back(stage_part({0}, "conv", 1 - pad - times.parts.back().share));
  return times;
}

const std::vector<bool> kQuiet(4, false);

TEST(InsideRounds, SharesHaveAnInterval) {
  const InsideTimes times = combined(
      {split_with(0.2, 0.05), split_with(0.22, 0.06), split_with(0.21, 0.05), split_with(0.21, 0.06)}, kQuiet,
      "");
  ASSERT_EQ(times.parts.size(), 3u);
  EXPECT_NEAR(times.parts[0].share, 0.21, 1e-9);
  ASSERT_TRUE(times.parts[0].plus_minus);
  EXPECT_GT(*times.parts[0].plus_minus, 0.01);
  EXPECT_NEAR(times.parts[1].share, 0.055, 1e-9);
  EXPECT_FALSE(times.parts[1].below_noise);
  double sum = 0;
  for (const InsidePart& part : times.parts) sum += part.share;
  EXPECT_NEAR(sum, 1, 0.02);
}

TEST(InsideRounds, WhatFlipsAroundTheNoiseIsBelowItWithABound) {
  const InsideTimes times =
      combined({split_with(0.2, 0.03), split_with(0.2, -0.01), split_with(0.2, 0.025), split_with(0.2, 0.0)},
               kQuiet, "");
  EXPECT_TRUE(times.parts[1].below_noise);
  EXPECT_EQ(times.parts[1].share, 0);
  EXPECT_GE(*times.parts[1].plus_minus, 0.03) << "another round's 3 points lie within";
  EXPECT_NEAR(times.parts[2].share, 0.8, 1e-9) << "its time stays with the stage";
}

TEST(InsideRounds, DisturbedRoundsAreLeftOut) {
  const std::vector<InsideTimes> rounds = {split_with(0.2, 0.05), split_with(0.6, 0.3), split_with(0.2, 0.05),
                                           split_with(0.2, 0.05)};
  const InsideTimes times = combined(rounds, {false, true, false, false}, "busy");
  EXPECT_EQ(times.rounds, 3u);
  EXPECT_NEAR(times.parts[0].share, 0.2, 1e-9);
  EXPECT_NEAR(*times.parts[0].plus_minus, 0, 1e-9);
  EXPECT_EQ(times.under_load, "");
  const InsideTimes guess = combined(rounds, {true, true, true, false}, "1.4 of 2 processors busy elsewhere");
  EXPECT_EQ(guess.under_load, "1.4 of 2 processors busy elsewhere");
}

TEST(InsideRounds, StagesThatAreNotFoundEachTimeAreMerged) {
  InsideTimes fine, coarse;
  fine.parts = {stage_part({0}, "max", 0.2, InsideMethod::kSampling),
                stage_part({0}, "exp", 0.5, InsideMethod::kSampling),
                stage_part({0, 1}, "divide", 0.3, InsideMethod::kSampling)};
  coarse.parts = {stage_part({0}, "exp", 0.6, InsideMethod::kSampling),
                  stage_part({0, 1}, "divide", 0.4, InsideMethod::kSampling)};
  const InsideTimes times = combined({fine, coarse, fine, coarse}, kQuiet, "");
  ASSERT_EQ(times.parts.size(), 2u);
  EXPECT_EQ(times.parts[0].stage, "max, exp");
  EXPECT_NEAR(times.parts[0].share, 0.65, 1e-9);
  EXPECT_EQ(times.parts[1].stage, "divide");
}

TEST(InsideRounds, OneRoundIsItself) {
  const InsideTimes times = combined({split_with(0.2, 0.05)}, {false}, "");
  EXPECT_EQ(times.parts.size(), 3u);
  EXPECT_FALSE(times.parts[0].plus_minus);
}

}  // namespace
}  // namespace baton
