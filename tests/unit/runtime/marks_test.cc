#include "baton/runtime/marks.h"

#include <thread>

#include <gtest/gtest.h>

#include "baton/runtime/system/timers.h"

namespace baton {
namespace {

void spin(int64_t ns) {
  const int64_t end = monotonic_ns() + ns;
  while (monotonic_ns() < end) {
  }
}

TEST(Marks, TimeGoesToTheOpenStage) {
  reset_marks();
  mark_fenced(1);
  spin(2'000'000);
  mark_fenced(2);
  spin(6'000'000);
  mark_fenced(0);
  const MarkTable table = collect_marks();
  EXPECT_EQ(table[1].visits, 1u);
  EXPECT_EQ(table[2].visits, 1u);
  const double scale = ns_per_tick();
  // A busy machine may add time, never take it away.
  EXPECT_GE(static_cast<double>(table[1].ticks) * scale, 1'990'000);
  EXPECT_GE(static_cast<double>(table[2].ticks) * scale, 5'990'000);
}

TEST(Marks, ThreadsAreSummedAlsoAfterTheyEnded) {
  reset_marks();
  for (int t = 0; t < 3; ++t) {
    std::thread([] {
      for (int i = 0; i < 10; ++i) {
        mark_fenced(5);
        mark_fenced(0);
      }
    }).join();
  }
  EXPECT_EQ(collect_marks()[5].visits, 30u);
  reset_marks();
  EXPECT_EQ(collect_marks()[5].visits, 0u);
  EXPECT_EQ(collect_marks()[5].ticks, 0u);
}

TEST(Marks, AClockThatStepsBackAddsNothingAndIsCounted) {
  reset_marks();
  const uint64_t start = fenced_ticks() + 1'000'000;
  mark_at(1, start);
  mark_at(2, start + 500);
  mark_at(1, start + 100);  // 400 before
  mark_at(0, start + 130);
  const MarkTable table = collect_marks();
  EXPECT_EQ(table[1].ticks, 530u);
  EXPECT_EQ(table[2].ticks, 0u);
  EXPECT_EQ(clock_steps(), 1u);
  reset_marks();
  EXPECT_EQ(clock_steps(), 0u);
}

TEST(Marks, AStageOutOfRangeIsOutside) {
  reset_marks();
  mark_fenced(kMarkSlots);
  mark_fenced(-1);
  mark_fenced(kMarkSlots - 1);
  mark_fenced(0);
  const MarkTable table = collect_marks();
  EXPECT_EQ(table[kMarkSlots - 1].visits, 1u);
  EXPECT_GE(table[0].visits, 2u);
}

TEST(Timers, TicksAgreeWithTheClock) {
  const double scale = ns_per_tick();
  for (int attempt = 0; attempt < 20;
       ++attempt) {  // an interruption between the two readings spoils one attempt
    const int64_t start_ns = monotonic_ns();
    const uint64_t start = ticks();
    spin(20'000'000);
    const double measured = static_cast<double>(ticks() - start) * scale;
    const auto expected = static_cast<double>(monotonic_ns() - start_ns);
    if (measured > expected * 0.999 && measured < expected * 1.001) return;
  }
  FAIL() << "20 times out of 20, ticks and clock disagreed by more than 0.1 %";
}

TEST(Timers, CpuTimeOfTheThread) {
  const int64_t before = thread_cpu_ns();
  spin(5'000'000);
  EXPECT_GT(thread_cpu_ns(), before);
  EXPECT_GE(process_cpu_ns(), thread_cpu_ns() - before);
}

TEST(Timers, TheCounterIsUsedOnlyWhereItCountsEvenly) {
  EXPECT_TRUE(counter_is_steady("flags\t\t: fpu tsc constant_tsc rep_good nonstop_tsc cpuid\n"));
  EXPECT_TRUE(counter_is_steady("nonstop_tsc constant_tsc"));
  EXPECT_FALSE(counter_is_steady("flags : fpu tsc constant_tsc cpuid"));
  EXPECT_FALSE(counter_is_steady("flags : fpu tsc nonstop_tsc_s3 constant_tsc"));
  EXPECT_FALSE(counter_is_steady(""));
}

}  // namespace
}  // namespace baton
