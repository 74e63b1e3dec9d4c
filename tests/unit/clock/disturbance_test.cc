// The rule for disturbed times, on recorded clocks.
#include "baton/clock/disturbance.h"

#include <gtest/gtest.h>

#include "baton/runtime/thread_reading.h"

namespace baton {
namespace {

SystemReading system_at(double seconds, double all_s, double own_s, double steal_s = 0,
                        double throttled_s = 0) {
  return {CpuUse{all_s, own_s, seconds, 2, steal_s}, throttled_s};
}

TEST(Disturbance, AQuietMachineDoesNotDisturb) {
  const Disturbance what = disturbance(system_at(10, 100, 50), system_at(11, 101.1, 51));
  EXPECT_FALSE(what.any());
  EXPECT_EQ(what.text(), "");
}

TEST(Disturbance, OtherProgramsAreSeenAndSaid) {
  const Disturbance what = disturbance(system_at(10, 100, 50), system_at(11, 102, 50.6));
  EXPECT_TRUE(what.any());
  EXPECT_EQ(what.text(), "1.4 of 2 processors busy elsewhere");
}

TEST(Disturbance, StealIsNotTheWorkOfOtherPrograms) {
  const Disturbance what = disturbance(system_at(10, 100, 50, 7), system_at(12, 102, 51.4, 7.6));
  EXPECT_FALSE(what.by_others());
  EXPECT_EQ(what.text(), "0.3 of 2 processors taken by the hypervisor");
}

TEST(Disturbance, TheQuotaOfAContainerIsSeenAndSaid) {
  const Disturbance what = disturbance(system_at(10, 100, 50), system_at(11, 101, 51, 0, 0.12));
  EXPECT_EQ(what.text(), "held for 120 ms by the container's CPU quota");
  EXPECT_DOUBLE_EQ(throttled_seconds("usage_usec 9\nnr_periods 3\nnr_throttled 2\nthrottled_usec 120000\n"),
                   0.12);
  EXPECT_DOUBLE_EQ(throttled_seconds("nr_periods 0\nnr_throttled 0\nthrottled_time 250000000\n"), 0.25);
  EXPECT_EQ(throttled_seconds("no numbers"), 0);
}

TEST(Disturbance, WithoutProcOnlyTheQuotaIsKnown) {
  EXPECT_FALSE(disturbance({}, {}).any());
  EXPECT_TRUE(disturbance({std::nullopt, 1}, {std::nullopt, 1.1}).by_quota());
}

TEST(Disturbance, OnOneProcessorLessIsMuch) {
  const auto one = [](double seconds, double all_s) {
    return SystemReading{CpuUse{all_s, 0, seconds, 1}, 0};
  };
  EXPECT_TRUE(disturbance(one(0, 0), one(1, 0.2)).any());
  const auto many = [](double seconds, double all_s) {
    return SystemReading{CpuUse{all_s, 0, seconds, 64}, 0};
  };
  EXPECT_FALSE(disturbance(many(0, 0), many(1, 3)).any());
}

TEST(Disturbance, WindowsAddUp) {
  Disturbance sum = disturbance(system_at(0, 0, 0), system_at(1, 1, 1));
  sum += disturbance(system_at(1, 1, 1), system_at(2, 3, 2));
  EXPECT_DOUBLE_EQ(sum.seconds, 2);
  EXPECT_DOUBLE_EQ(sum.others(), 0.5);
}

TEST(ThreadReading, ASliceOfTheSchedulerIsSeen) {
  const ThreadReading before{1'000'000, 500'000, 7};
  EXPECT_FALSE(was_held(before, {2'200'000, 1'699'000, 7}, false));
  EXPECT_TRUE(was_held(before, {6'200'000, 1'700'000, 8}, false)) << "1.2 ms of work that took 5.2 ms";
  EXPECT_TRUE(was_held(before, {6'200'000, 1'700'000, 7}, false)) << "stolen: no switch was counted";
  EXPECT_TRUE(was_held(before, {2'200'000, 1'700'000, 8}, false));
}

TEST(ThreadReading, WithoutTheSliceThereIsTheTimeThatWasComputed) {
  const ThreadReading before{1'000'000, 500'000, 7, 900'000};
  EXPECT_EQ(computed_ns(before, {6'200'000, 1'700'000, 8, 2'100'000}, 1), 1'200'000);
  // Two threads computed 3 ms in all, of which the caller did 1.2.
  EXPECT_EQ(computed_ns(before, {6'200'000, 1'700'000, 8, 3'900'000}, 2), 1'500'000);
  // All of it was the caller's.
  EXPECT_EQ(computed_ns(before, {6'200'000, 3'500'000, 8, 3'900'000}, 2), 3'000'000);
  EXPECT_EQ(computed_ns(before, {2'000'000, 1'700'000, 8, 2'100'000}, 1), 1'000'000) << "no more than passed";
}

TEST(ThreadReading, WhoWaitsForOthersIsNotHeld) {
  const ThreadReading before{1'000'000, 500'000, 7};
  EXPECT_FALSE(was_held(before, {6'200'000, 1'700'000, 7}, true));
  EXPECT_TRUE(was_held(before, {6'200'000, 1'700'000, 9}, true));
}

}  // namespace
}  // namespace baton
