// Single samples: what they are made of, when there is none, and what is said of them.
#include "baton/clock/sample_clock.h"

#include <thread>

#include <gmock/gmock.h>

#include "baton/runtime/system/timers.h"
#include "baton/support/interrupt.h"

namespace baton {
namespace {

void pass_us(int64_t us) {
  for (const int64_t begin = monotonic_ns(); monotonic_ns() - begin < us * 1000;) {
  }
}

SampleClock::Run passing(int64_t us) {
  return [us] { return pass_us(us), 0.0; };
}

SystemSource quiet_machine() {
  return [] { return SystemReading(); };
}

TEST(SampleClock, LoopsTakeOneTimeWhateverTheKernel) {
  for (const double us : {0.02, 0.5, 1.9, 15.0}) EXPECT_NEAR(calls_per_sample(us) * us, 60, us);
  EXPECT_EQ(calls_per_sample(40), 1);
  EXPECT_EQ(calls_per_sample(1e6), 1);
  EXPECT_EQ(calls_per_sample(0), 10'000) << "shorter than the clock tells";
}

TEST(SampleClock, ASampleIsOfOneCallAndOfWhatRunsAlone) {
  SampleClock clock({.system = quiet_machine()});
  int prepared = 0;
  const auto sample = clock.take(passing(400), 4, [&] { ++prepared, pass_us(5000); });
  ASSERT_TRUE(sample);
  EXPECT_GE(sample->us, 99);
  EXPECT_EQ(prepared, 1);
  if (!sample->held) {
    EXPECT_LT(sample->us, 1000) << "what prepares does not count";
  }
  EXPECT_EQ(sample->core_ns, 0) << "not asked";
  EXPECT_EQ(clock.take([] { return 12.5; })->us, 12.5) << "of a clock of its own";
}

// What the thread did not get was not divided by the calls of a loop, and could be more than the sample.
TEST(SampleClock, AHeldSampleKnowsWhatItWouldHaveTaken) {
  SampleClock clock({.system = quiet_machine()});
  const auto sleeping = [] {
    pass_us(2000);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return 0.0;
  };
  const auto sample = clock.take(sleeping, 10);
  ASSERT_TRUE(sample);
  EXPECT_TRUE(sample->held);
  EXPECT_GT(sample->us, 2200);
  EXPECT_GT(sample->computed_us, 0);
  EXPECT_LT(sample->computed_us, 0.8 * sample->us);
  EXPECT_EQ(clock.reason(), "another program took the processor in 1 of 1 runs");
  clock.use(1, /*on_devices=*/true);
  EXPECT_FALSE(clock.take(sleeping)->held) << "the threads of a driver take turns with ours";
}

TEST(SampleClock, WhatIsAlwaysHeldIsNotRepeatedForEver) {
  SampleClock clock({.system = quiet_machine()});
  int runs = 0;
  const auto held = [&] {
    ++runs;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return 0.0;
  };
  EXPECT_TRUE(clock.take_unheld(held)->held);
  EXPECT_EQ(runs, 4);
  for (int i = 0; i < 10; ++i) clock.take_unheld(held);
  runs = 0;
  clock.take_unheld(held);
  EXPECT_EQ(runs, 1) << "most are held up";
}

TEST(SampleClock, ClocksThatDisagreeGiveNoSample) {
  Clocks clocks = Clocks::of_this_machine();
  clocks.ns_per_tick *= 100;
  SampleClock clock({.system = quiet_machine(), .clocks = clocks});
  EXPECT_FALSE(clock.take(passing(1000)));
  EXPECT_FALSE(clock.watch([](bool) { pass_us(1000); }));
  EXPECT_EQ(clock.clocks().refused(), 2);
}

TEST(SampleClock, TheCoreIsAskedBeforeAndAfterButNotMoreOftenThanItChanges) {
  int asked = 0;
  SampleClock clock({.system = quiet_machine(), .core = [&] { return CoreLook(++asked == 2, 1700); }});
  const auto slow = clock.take(passing(200));
  ASSERT_TRUE(slow);
  EXPECT_TRUE(slow->slow) << "at its end";
  EXPECT_EQ(slow->core_ns, 1700);
  EXPECT_EQ(asked, 2);
  pass_us(100);
  asked = 10;
  for (int i = 0; i < 1000; ++i) clock.take([] { return 0.0; });
  EXPECT_LT(asked, 1500) << "some take less than 50 us together";
  asked = 10;
  clock.use(1, true, /*simulated=*/true);
  EXPECT_FALSE(clock.take(passing(200))->slow);
  EXPECT_EQ(asked, 10) << "nothing changes a simulated time";
}

TEST(SampleClock, WaitsForTheCoreAndNoLongerThanItMay) {
  int asked = 0;
  SampleClock waits(
      {.system = quiet_machine(), .core = [&] { return CoreLook(++asked <= 5); }, .most_pause_s = 10});
  int runs = 0;
  const auto sample = waits.take([&] { return ++runs, 0.0; });
  EXPECT_FALSE(sample->slow);
  EXPECT_EQ(runs, 2) << "what it has in the caches may be gone";
  EXPECT_GE(waits.paused_s(), 4 * 2e-3);
  SampleClock gives_up(
      {.system = quiet_machine(), .core = [] { return CoreLook(true); }, .most_pause_s = 0.01});
  EXPECT_TRUE(gives_up.take(passing(1))->slow);
  EXPECT_TRUE(gives_up.take(passing(1))->slow);
  EXPECT_LT(gives_up.paused_s(), 5);
}

TEST(SampleClock, EndsWhenAsked) {
  std::atomic<bool> stop{false};
  SampleClock clock({.interrupt = &stop, .system = quiet_machine()});
  EXPECT_TRUE(clock.take(passing(1)));
  stop = true;
  EXPECT_THROW(clock.take(passing(1)), Interrupted);
  EXPECT_THROW(clock.watch([](bool) {}), Interrupted);
}

}  // namespace
}  // namespace baton
