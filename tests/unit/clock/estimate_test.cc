// Times and their uncertainty from recorded rounds.
#include "baton/clock/estimate.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "baton/profile/measure/significance.h"

namespace baton {
namespace {

RoundSamples round_of(const std::vector<double>& us, const std::vector<bool>& disturbed = {}) {
  RoundSamples round;
  for (size_t i = 0; i < us.size(); ++i) round.add(us[i], i < disturbed.size() && disturbed[i]);
  return round;
}

TEST(Estimate, TheCoresClockIsThatOfTheSamplesThatCount) {
  std::vector<RoundSamples> rounds(3);
  for (int i = 0; i < 24; ++i) {
    const bool disturbed = i % 8 == 3;
    rounds[static_cast<size_t>(i % 3)].add({10, disturbed, false, 0, disturbed ? 3000.0 : 1700 + i % 3});
  }
  rounds[0].add({10, false, false, 0, 90'000});  // an interrupt during the reading
  rounds[0].add(10, false);                      // not read
  EXPECT_NEAR(estimate(rounds, "").core_ns, 1701, 1);
  for (RoundSamples& round : rounds) round.disturbed.assign(round.us.size(), true);
  EXPECT_NEAR(core_ns_of(rounds), 1701, 1) << "of all, where none counts";
}

// Rows of campaigns had no interval.
TEST(Estimate, OneProcessHasAWiderIntervalThanItsSamplesSay) {
  std::vector<double> steady, drifting;
  for (int i = 0; i < 40; ++i) {
    steady.push_back(100 + 0.1 * (i % 5));
    drifting.push_back(100 + 0.5 * i);
  }
  const Estimate found = estimate_of_one_process(steady);
  EXPECT_NEAR(found.us, 100.2, 0.1);
  EXPECT_NEAR(*found.plus_minus_us, std::hypot(kOneProcess, std::sqrt(2) * kBetweenProcesses) * found.us,
              0.3);
  EXPECT_GT(*estimate_of_one_process(drifting).plus_minus_us, 5);
  EXPECT_EQ(found.samples_us, steady);
  EXPECT_EQ(found.under_load, "");
  EXPECT_FALSE(estimate_of_one_process({1, 2, 3, 4, 5}).plus_minus_us);
  EXPECT_EQ(estimate_of_one_process({1, 2, 4}).us, 2);
  EXPECT_EQ(estimate_of_one_process({}).us, 0);
}

TEST(Enough, IsAsManyAsAreWantedAndAsMuchAlike) {
  std::vector<RoundSamples> rounds(2);
  for (int i = 0; i < 20; ++i) rounds[static_cast<size_t>(i % 2)].add(i % 4 < 2 ? 100 : 110, i == 7);
  EXPECT_TRUE(enough(rounds, {19}));
  EXPECT_FALSE(enough(rounds, {20})) << "one is disturbed";
  EXPECT_FALSE(enough(rounds, {19, 0.03}));
  EXPECT_TRUE(enough(rounds, {19, 0.1}));
  EXPECT_TRUE(enough(rounds, {4, 0.03})) << "in groups they are";
  rounds[0].add({100, false, true});
  EXPECT_FALSE(enough(rounds, {19})) << "one on a slow core counts as long as there are no others";
  EXPECT_FALSE(enough({}, {1}));
}

TEST(Outliers, LieFarOutside) {
  std::vector<double> samples{10, 11, 10, 12, 11, 10, 11, 12, 50, 10};
  EXPECT_EQ(outliers_of(samples), (std::vector<uint32_t>{8}));
  samples[8] = 13;
  EXPECT_TRUE(outliers_of(samples).empty());
  EXPECT_TRUE(outliers_of({}).empty());
  EXPECT_TRUE(outliers_of({1, 2, 300}).empty()) << "too few to say so";
}

// More than half of the samples of a short kernel are the same step of the clock: by quartiles all others
// were outliers.
TEST(Outliers, AreNotTheNextStepOfTheClock) {
  std::vector<double> samples(20, 10.0);
  samples[3] = samples[11] = 10.04;
  EXPECT_TRUE(outliers_of(samples).empty());
  samples[5] = 10.2;
  EXPECT_EQ(outliers_of(samples), (std::vector<uint32_t>{5}));
}

TEST(Estimate, WhatWasDisturbedIsLeftOut) {
  const Estimate found = estimate({round_of({10, 60, 10}, {false, true, false}),
                                   round_of({11, 11, 70}, {false, false, true}), round_of({12, 12})},
                                  "busy");
  EXPECT_EQ(found.us, 11);
  EXPECT_EQ(found.left_out, 2u);
  EXPECT_EQ(found.disturbed_us, (std::vector<double>{60, 70}));
  EXPECT_EQ(found.core_ns, 0) << "not read";
  EXPECT_EQ(found.samples_us.size(), 6u);
  EXPECT_EQ(found.under_load, "");
  EXPECT_EQ(found.rounds_us, (std::vector<double>{10, 11, 12}));
  EXPECT_TRUE(found.plus_minus_us);
}

TEST(Estimate, ProcessesDifferAlsoWhereRoundsAgree) {
  const std::vector<RoundSamples> rounds(8, round_of(std::vector<double>(5, 100)));
  EXPECT_NEAR(*estimate(rounds, "").plus_minus_us, 1.414, 1e-3);
}

/// A round beside other programs: in windows that were disturbed, of ten samples of about `us` so many
/// interrupted, which takes 3 ms.
RoundSamples busy_round(double us, int interrupted, bool knows_computed = false) {
  RoundSamples round;
  for (int i = 0; i < 10; ++i) {
    const double computed = us * (1 + 0.002 * (i % 5));
    const bool held = i >= 10 - interrupted;
    round.add({held ? computed + 3000 : computed, held, false, held && knows_computed ? computed : 0});
  }
  round.disturbed.assign(round.us.size(), true);
  return round;
}

// A busy machine gave no number at all: each sample lay in a window in which others ran.
TEST(Estimate, BesideOtherProgramsWhatNothingInterruptedCounts) {
  const Estimate found = estimate({busy_round(100, 6), busy_round(101, 7), busy_round(99, 8)},
                                  "1.4 of 2 processors busy elsewhere");
  EXPECT_EQ(found.under_load, "1.4 of 2 processors busy elsewhere");
  EXPECT_FALSE(found.interrupted);
  EXPECT_NEAR(found.us, 100, 1.5);
  ASSERT_TRUE(found.plus_minus_us);
  EXPECT_GT(*found.plus_minus_us, kBesideOthers * found.us) << "wider than on a quiet machine";
  EXPECT_LT(*found.plus_minus_us, 0.1 * found.us);
  EXPECT_EQ(found.rounds_us.size(), 3u);
  EXPECT_EQ(found.samples_us.size(), 9u);
  EXPECT_EQ(found.left_out, 21u);
}

TEST(Estimate, WhatWasAlwaysInterruptedIsWithoutTheInterruptions) {
  const Estimate found =
      estimate({busy_round(9000, 10, true), busy_round(9100, 10, true), busy_round(9050, 10, true)}, "busy");
  EXPECT_TRUE(found.interrupted);
  EXPECT_NEAR(found.us, 9050, 60);
  EXPECT_GT(found.plus_minus_us.value_or(0), kInterrupted * found.us);
}

TEST(Estimate, OnSeveralThreadsTheFastestTell) {
  // One of the threads was away for most samples, which no counter says.
  const RoundSamples round = round_of({180, 100, 210, 101, 195, 250, 102, 190, 205, 188});
  std::vector<RoundSamples> rounds(4, round);
  for (RoundSamples& each : rounds) each.disturbed.assign(each.us.size(), true);
  const Estimate found = estimate(rounds, "busy");
  EXPECT_NEAR(found.us, 101, 1);
  // Nothing says that the others are those of a thread that was away, nor that these are not.
  EXPECT_NEAR(*found.plus_minus_us, 0.5 * found.us, 0.03 * found.us);
  EXPECT_NEAR(*estimate({round_of({100, 101, 100, 102, 101, 100}, std::vector<bool>(6, true))}, "busy", 4)
                   .plus_minus_us,
              75, 5)
      << "one of four threads may have done the work of all";
  EXPECT_EQ(least_disturbed_us({}), 0);
}

TEST(Estimate, ATimeIsNotThatOfTheFastestBesideOthers) {
  std::vector<RoundSamples> close(3, round_of({100, 104, 106, 108, 109, 110, 112, 113, 115, 118}));
  for (RoundSamples& each : close) each.disturbed.assign(each.us.size(), true);
  EXPECT_NEAR(estimate(close, "busy").us, 109.5, 0.01) << "the median, as on a quiet machine";
}

TEST(Estimate, ThreadsContendWhereThereAreMoreThanProcessors) {
  EXPECT_EQ(contending_threads(1, 2, 2), 1);
  EXPECT_EQ(contending_threads(2, 1.4, 2), 2);
  EXPECT_EQ(contending_threads(8, 1.4, 16), 1);
}

TEST(Estimate, RoundsWithoutAnUndisturbedSampleDoNotChangeTheTime) {
  // In the first rounds one of two threads was away all the time.
  std::vector<RoundSamples> rounds{busy_round(200, 0), busy_round(201, 0)};
  for (const double us : {100, 101, 99, 100, 101, 100}) rounds.push_back(busy_round(us, 3));
  const Estimate found = estimate(rounds, "busy");
  EXPECT_NEAR(found.us, 100, 1.5);
  EXPECT_LT(*found.plus_minus_us, 0.52 * found.us);
}

// One quiet moment among busy rounds gave a time without an interval.
TEST(Estimate, OneQuietRoundAmongBusyOnesHasAnInterval) {
  std::vector<RoundSamples> rounds{round_of({100, 101, 100, 99, 100, 101})};
  for (int i = 0; i < 7; ++i) rounds.push_back(busy_round(100 + i % 2, 3));
  const Estimate found = estimate(rounds, "busy");
  EXPECT_EQ(found.under_load, "busy");
  EXPECT_NEAR(found.us, 100, 1);
  EXPECT_TRUE(found.plus_minus_us);
}

TEST(Estimate, FewRoundsBesideOthersHaveATimeAndAWideInterval) {
  const Estimate found =
      estimate({round_of({50, 10, 55, 60}, {true, true, true, true})}, "1.4 of 2 processors busy elsewhere");
  EXPECT_EQ(found.under_load, "1.4 of 2 processors busy elsewhere");
  EXPECT_GE(found.plus_minus_us.value_or(0), 1);
  EXPECT_EQ(found.us, 10) << "of the least disturbed";
}

TEST(Estimate, FewRoundsHaveNoInterval) {
  EXPECT_FALSE(estimate({round_of({1, 2, 3}), round_of({1, 2, 3})}, "").plus_minus_us);
  EXPECT_EQ(estimate({}, "").us, 0);
}

TEST(Estimate, StudentsQuantilesAreThoseOfTheTables) {
  EXPECT_NEAR(student_95(1), 12.706, 1e-3);
  EXPECT_NEAR(student_95(4), 2.776, 1e-3);
  EXPECT_NEAR(student_95(7), 2.365, 1e-3);
  EXPECT_NEAR(student_95(1e6), 1.95996, 1e-4);
  EXPECT_NEAR(student_quantile(0.001, 9), 4.781, 1e-3);
  EXPECT_NEAR(student_outside(2.228, 10), 0.05, 1e-4);
}

/// Rounds of a process: normally distributed around 100 us.
std::vector<double> process(std::mt19937& random, size_t rounds) {
  std::normal_distribution<double> value(100, 1.5);
  std::vector<double> us(rounds);
  for (double& each : us) each = value(random);
  return us;
}

TEST(Estimate, IntervalsCoverTheValueOfAnotherProcess) {
  std::mt19937 random(17);
  int covered = 0;
  constexpr int kPairs = 4000;
  for (int i = 0; i < kPairs; ++i) {
    const std::vector<double> here = process(random, 8), there = process(random, 8);
    const auto value = [](const std::vector<double>& us) { return estimate({round_of({us})}, "").us; };
    covered += std::abs(value(here) - value(there)) <= *rounds_interval(here);
  }
  EXPECT_GT(covered, 0.90 * kPairs);
  EXPECT_LT(covered, 0.98 * kPairs);
}

/// The rows marked in a comparison of two processes that run the same build.
size_t marked_of_equal(std::mt19937& random, bool paired) {
  std::vector<Compared> rows(100);
  std::vector<Compared*> all;
  for (Compared& row : rows) {
    const DifferenceInterval found = rounds_difference(process(random, 8), process(random, 8), paired);
    std::normal_distribution<double> chance(0, 1);
    row = {100, 100 + 1.5 * std::sqrt(2 * 1.4 / 8) * chance(random), found.half, found.degrees};
    all.push_back(&row);
  }
  mark_significant(all);
  size_t marked = 0;
  for (const Compared& row : rows) marked += row.differs();
  return marked;
}

TEST(Significance, ABuildDoesNotDifferFromItself) {
  std::mt19937 random(3);
  size_t marked = 0;
  for (int pair = 0; pair < 20; ++pair) marked += marked_of_equal(random, false);
  EXPECT_LE(marked, 20u) << "1 % of 2000 rows";
}

TEST(Significance, ADifferenceThatIsThereIsFound) {
  std::mt19937 random(5);
  std::vector<Compared> rows(50);
  std::vector<Compared*> all;
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::vector<double> a = process(random, 8);
    std::vector<double> b = process(random, 8);
    for (double& us : b) us += i < 5 ? 12 : 0;
    const DifferenceInterval found = rounds_difference(a, b, false);
    rows[i] = {100, i < 5 ? 112.0 : 100.1, found.half, found.degrees};
    all.push_back(&rows[i]);
  }
  mark_significant(all);
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i].differs(), i < 5) << i;
}

TEST(Significance, RoundsInTurnCancelDrift) {
  const std::vector<double> a = {100, 104, 108, 112, 116}, b = {102, 106.1, 109.9, 114, 118.1};
  EXPECT_LT(*rounds_difference(a, b, true).half, 0.2);
  EXPECT_GT(*rounds_difference(a, b, false).half, 5);
  EXPECT_FALSE(rounds_difference({1, 2}, {1, 2}, false).half);
}

}  // namespace
}  // namespace baton
