// Rounds that were disturbed, made up: clocks that step, interrupts, drift.
#include "baton/profile/inside/inside_screen.h"

#include <cmath>

#include <gtest/gtest.h>

namespace baton {
namespace {

InsideRound screen_round(double pace = 1) {
  InsideRound round;
  round.plain_us = 100 * pace;
  round.twin_us = 100.5 * pace;
  round.marked_us = 110 * pace;
  round.doubled_us = 120 * pace;
  round.empty_us = 0.02;
  round.site_us = {30 * pace, 78 * pace};
  round.visits = {10, 10};
  round.ablated_us = {94 * pace};
  return round;
}

/// Each a little different, as they are.
std::vector<InsideRound> usual(size_t count) {
  std::vector<InsideRound> rounds;
  for (size_t i = 0; i < count; ++i) {
    rounds.push_back(screen_round());
    rounds.back().plain_us += 0.3 * std::sin(static_cast<double>(i));
    rounds.back().marked_us += 0.3 * std::cos(static_cast<double>(i));
  }
  return rounds;
}

TEST(Screen, WhatIsAsUsualStays) {
  auto rounds = usual(40);
  const RoundTally tally = screen_rounds(rounds);
  EXPECT_EQ(rounds.size(), 40u);
  EXPECT_EQ(tally.measured, 40u);
  EXPECT_EQ(tally.stepped + tally.disturbed, 0u);
  EXPECT_FALSE(tally.restless);
}

TEST(Screen, ClocksThatStep) {
  auto rounds = usual(40);
  rounds[3].plain_us = -2e6;       // back, while the plain kernel ran
  rounds[7].clock_stepped = true;  // back, between two marks
  rounds[11].site_us[1] = 5e9;     // ahead, between two marks: more than the kernel took
  rounds[13].twin_us = -1;
  rounds[17].empty_us = -0.01;
  rounds[19].ablated_us[0] = std::nan("");
  const RoundTally tally = screen_rounds(rounds);
  EXPECT_EQ(tally.stepped, 6u);
  EXPECT_EQ(tally.disturbed, 0u);
  EXPECT_EQ(rounds.size(), 34u);
}

TEST(Screen, AClockThatStepsAheadInOneVariantIsADisturbance) {
  auto rounds = usual(40);
  rounds[5].twin_us += 1e6;
  const RoundTally tally = screen_rounds(rounds);
  EXPECT_EQ(tally.disturbed, 1u);
  EXPECT_EQ(rounds.size(), 39u);
}

TEST(Screen, AnInterruptInAnyVariantCostsItsRound) {
  auto rounds = usual(40);
  rounds[2].plain_us *= 1.5;
  rounds[4].ablated_us[0] *= 3;
  rounds[6].doubled_us += 40;
  rounds[8].twin_us *= 0.5;  // too short can be wrong too
  const RoundTally tally = screen_rounds(rounds);
  EXPECT_EQ(tally.disturbed, 4u);
  for (const InsideRound& round : rounds) EXPECT_LT(round.plain_us, 101);
}

TEST(Screen, ADriftingClockIsNoDisturbance) {
  std::vector<InsideRound> rounds;
  for (int i = 0; i < 60; ++i) rounds.push_back(screen_round(1 + 0.3 * std::sin(i * 0.7)));
  EXPECT_EQ(screen_rounds(rounds).disturbed, 0u);
  EXPECT_EQ(rounds.size(), 60u);
}

TEST(Screen, AKernelOfOneVariantIsHeldAgainstItsNeighbours) {
  std::vector<InsideRound> rounds(60);
  for (int i = 0; i < 60; ++i) rounds[i].plain_us = 10 * (1 + 0.005 * i);  // slows down by 30 %
  rounds[30].plain_us *= 1.4;
  EXPECT_EQ(screen_rounds(rounds).disturbed, 1u);
  EXPECT_EQ(rounds.size(), 59u);
}

TEST(Screen, WhereMostAreDisturbedNoneIsLeftOutAndItIsSaid) {
  auto rounds = usual(40);
  for (size_t i = 0; i < 23; ++i)
    (i % 2 ? rounds[i].twin_us : rounds[i].plain_us) *= 1.3 + 0.02 * static_cast<double>(i);
  const RoundTally tally = screen_rounds(rounds);
  EXPECT_TRUE(tally.restless);
  EXPECT_EQ(tally.disturbed, 0u);
  EXPECT_EQ(rounds.size(), 40u);
}

TEST(Screen, ThreadsMayTogetherTakeLongerThanTheKernel) {
  auto rounds = usual(20);
  for (InsideRound& round : rounds) round.site_us = {60, 150};
  auto alone = rounds;
  EXPECT_EQ(screen_rounds(rounds, 2).stepped, 0u);
  EXPECT_EQ(screen_rounds(alone, 1).stepped, 20u);
  EXPECT_TRUE(alone.empty());
}

}  // namespace
}  // namespace baton
