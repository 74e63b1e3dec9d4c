#include "baton/profile/measure/bursts.h"

#include <chrono>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "baton/support/interrupt.h"

namespace baton {
namespace {

TEST(Bursts, CountCallsAndWarmUpOnce) {
  int calls = 0;
  BurstOptions options;
  options.number = 3;
  options.repeat = 4;
  const std::vector<double> seconds = time_bursts([&] { ++calls; }, options);
  EXPECT_EQ(seconds.size(), 4u);
  EXPECT_EQ(calls, 1 + 3 * 4);
}

TEST(Bursts, GrowUntilTheyTakeLongEnough) {
  int calls = 0;
  BurstOptions options;
  options.number = 1;
  options.min_repeat_ms = 20;
  const std::vector<double> seconds = time_bursts(
      [&] {
        ++calls;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      },
      options);
  EXPECT_GE(calls, 5);
  EXPECT_GE(seconds[0], 2e-3);
  EXPECT_LT(seconds[0], 2e-1);
}

TEST(Bursts, GiveUpOnWhatTakesNoTime) {
  int64_t calls = 0;
  BurstOptions options;
  options.number = 1;
  options.min_repeat_ms = 1e9;
  options.limit_zero_time_iterations = 5;
  EXPECT_EQ(time_bursts(
                [&] {
                  if (++calls > 1000) throw std::runtime_error("enough");
                },
                {})
                .size(),
            1u);
  calls = 0;
  EXPECT_THROW(time_bursts(
                   [&] {
                     if (++calls > 1000) throw std::runtime_error("enough");
                   },
                   options),
               std::runtime_error);
}

TEST(Bursts, StopBetweenTwoCalls) {
  std::atomic<bool> stop{false};
  int calls = 0;
  BurstOptions options;
  options.number = 1000;
  options.interrupt = &stop;
  EXPECT_THROW(time_bursts([&] { stop = ++calls == 7; }, options), Interrupted);
  EXPECT_EQ(calls, 7);
  stop = true;
  EXPECT_THROW(time_bursts([&] { ++calls; }, options), Interrupted);
  EXPECT_EQ(calls, 7);
}

TEST(Bursts, RefuseOptionsOutOfRange) {
  for (auto set :
       {+[](BurstOptions& o) { o.number = 0; }, +[](BurstOptions& o) { o.repeat = 0; },
        +[](BurstOptions& o) { o.min_repeat_ms = -1; }, +[](BurstOptions& o) { o.repeats_to_cooldown = 0; },
        +[](BurstOptions& o) { o.cooldown_interval_ms = -1; }}) {
    BurstOptions options;
    set(options);
    EXPECT_THROW(time_bursts([] {}, options), UsageError);
  }
}

}  // namespace
}  // namespace baton
