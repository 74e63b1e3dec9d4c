// Cores that another virtual machine shares.
#include "baton/clock/core_pace.h"

#include <gtest/gtest.h>

namespace baton {
namespace {

/// While the other loop takes a microsecond.
CoreReading at(double filled_ns) { return {filled_ns, 1000}; }

TEST(CorePace, AUsualCoreIsNotSlow) {
  int reading = 0;
  CorePace pace([&] { return at(1700.0 + reading++ % 40); });
  for (int i = 0; i < 20000; ++i) ASSERT_FALSE(pace.look().slow) << i;
  EXPECT_NEAR(pace.usual().filled_ns, 1704, 2);
}

TEST(CorePace, SharedCoresAreSlowFromTheirFirstReadingToTheirLast) {
  double ns = 1700;
  CorePace pace([&] { return at(ns); });
  ASSERT_FALSE(pace.look().slow);
  for (int phase = 0; phase < 4; ++phase) {
    ns = 2150;
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(pace.look().slow);
    ns = 1700;
    for (int i = 0; i < 1000; ++i) ASSERT_FALSE(pace.look().slow);
  }
}

TEST(CorePace, LearnsThatItsFirstReadingsWereSlow) {
  double ns = 2150;
  CorePace pace([&] { return at(ns); });
  for (int i = 0; i < 300; ++i) pace.look().slow;
  ns = 1700;
  for (int i = 0; i < 2000; ++i) ASSERT_FALSE(pace.look().slow);
  ns = 2150;
  EXPECT_TRUE(pace.look().slow);
}

TEST(CorePace, AClockThatDependsOnTheKernelIsNoSharedCore) {
  // Behind AVX-512 all takes a fifth longer.
  double clock = 1;
  bool is_shared = false;
  CorePace pace([&] { return CoreReading{(is_shared ? 2150 : 1700) * clock, 1000 * clock}; });
  for (int i = 0; i < 4000; ++i) {
    clock = i % 3 ? 1.25 : 1;
    is_shared = i % 7 == 6;
    ASSERT_EQ(pace.look().slow, is_shared) << i;
  }
  is_shared = false;
  clock = 2;  // throttled
  EXPECT_TRUE(pace.look().slow);
}

TEST(CorePace, WhatIsOverAtTheNextLookIsNoSlowCore) {
  // An interrupt, or the processor's change of its clock.
  int readings = 0;
  CorePace pace([&] {
    ++readings;
    return CoreReading{readings % 50 == 20 ? 9000. : 1700., readings % 50 == 40 ? 9000. : 1000.};
  });
  for (int i = 0; i < 10000; ++i) ASSERT_FALSE(pace.look().slow) << readings;
  EXPECT_EQ(pace.look().filled_ns, 1700);
}

TEST(CorePace, RealReadingsAreTimes) {
  const CoreReading read = read_core();
  for (const double ns : {read.filled_ns, read.chain_ns}) {
    EXPECT_GT(ns, 50);
    EXPECT_LT(ns, 1e9);
  }
}

}  // namespace
}  // namespace baton
