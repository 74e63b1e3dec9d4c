// Clocks that step, go backwards or run too fast: what is timed by them is refused, and said.
#include "baton/clock/clock_watch.h"

#include <gmock/gmock.h>

namespace baton {
namespace {

using testing::HasSubstr;

struct Fake {
  uint64_t ticks = 1'000'000;
  int64_t ns = 0;
  Clocks clocks() {
    return {[this] { return ticks; }, [this] { return ns; }, 0.5};
  }
  /// Time passes: both clocks agree unless `extra_ticks`.
  void pass(int64_t more_ns, int64_t extra_ticks = 0) {
    ns += more_ns;
    ticks += static_cast<uint64_t>(more_ns * 2 + extra_ticks);
  }
};

TEST(ClockWatch, TimesByTicks) {
  Fake fake;
  ClockWatch watch(fake.clocks());
  watch.begin();
  fake.pass(1'500'000);
  EXPECT_EQ(watch.end(), 1500.0);
  EXPECT_EQ(watch.refused(), 0);
  EXPECT_EQ(watch.note(1), "");
}

TEST(ClockWatch, RefusesACounterThatStepped) {
  Fake fake;
  ClockWatch watch(fake.clocks());
  watch.begin();
  fake.pass(1'000'000, 20'000);  // 10 us more in a millisecond
  EXPECT_EQ(watch.end(), std::nullopt);
  watch.begin();
  fake.pass(1'000'000);
  EXPECT_EQ(watch.end(), 1000.0);
  EXPECT_EQ(watch.refused(), 1);
  EXPECT_EQ(
      watch.note(2),
      "1 of 2 runs were left out: the processor's time stamp counter stepped against the system's clock");
}

TEST(ClockWatch, RefusesACounterThatWentBackwards) {
  Fake fake;
  ClockWatch watch(fake.clocks());
  watch.begin();
  fake.pass(100, -5000);
  EXPECT_EQ(watch.end(), std::nullopt);
}

TEST(ClockWatch, ShortIntervalsMayDifferByWhatReadingTakes) {
  Fake fake;
  ClockWatch watch(fake.clocks());
  watch.begin();
  fake.pass(1000, 200);  // 10 %, but 100 ns
  EXPECT_EQ(watch.end(), 1.1);
}

TEST(ClockWatch, SaysWhenTheCounterRunsFaster) {
  Fake fake;
  ClockWatch watch(fake.clocks());
  for (int i = 0; i < 100'000; ++i) {  // 1 us each, 0.5 % too long: too little to refuse one
    watch.begin();
    fake.pass(1000, 10);
    ASSERT_TRUE(watch.end());
  }
  EXPECT_NEAR(watch.drift(), 0.005, 1e-6);
  EXPECT_THAT(watch.note(100'000), HasSubstr("runs 0.50 % faster than the system's clock"));
}

}  // namespace
}  // namespace baton
