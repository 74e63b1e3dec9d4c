// Measuring real runs on a machine that is made up: what its clocks and counters say decides what is
// reported.
#include <set>
#include <sstream>

#include <gmock/gmock.h>

#include "baton/profile/report/another_executor.h"
#include "baton/profile/report/report.h"
#include "baton/profile/write/table.h"

#include "profile/small_net.h"

namespace baton {
namespace {

using test::Built;
using testing::HasSubstr;

/// Two processors, of which other programs use `others`; every reading is half a second later.
SystemSource machine_with(double others) {
  return [=, seconds = 0.0]() mutable {
    seconds += 0.5;
    return SystemReading{CpuUse{seconds * (others + 1), seconds, seconds, 2}, 0};
  };
}

MeasureOptions short_options() {
  MeasureOptions options;
  options.min_runs = 16;
  options.min_seconds = 0.02;
  options.core_is_slow = [] { return false; };
  return options;
}

TEST(Recorded, ABusyMachineIsSaidInEveryNumber) {
  Built built;
  MeasureOptions options = short_options();
  options.system = machine_with(1.4);
  const FusedTimes times = measure_fused(*built.executor, options);
  const ProfileReport report = make_report(built.build, built.executor->plan(), times, {});
  EXPECT_EQ(report.under_load, "1.4 of 2 processors busy elsewhere");
  double shares = 0;
  for (const KernelRow& row : report.kernels) {
    EXPECT_EQ(row.under_load, report.under_load) << row.name;
    EXPECT_GT(row.median_us, 0) << row.name;
    EXPECT_GE(row.plus_minus_us.value_or(0), kBesideOthers * row.median_us) << row.name;
    EXPECT_EQ(row.rounds_us.size(), report.kernels.front().rounds_us.size()) << row.name;
    shares += row.share;
  }
  EXPECT_NEAR(shares, 1, 1e-6);
  EXPECT_GT(report.end_to_end_us, 0);
  std::ostringstream out;
  write_table(out, report);
  EXPECT_THAT(out.str(), HasSubstr("measured beside other programs (1.4 of 2 processors busy elsewhere)"));
  EXPECT_THAT(out.str(), HasSubstr("--wait"));
  EXPECT_THAT(out.str(), testing::ContainsRegex("sum of kernels +[0-9]"));
  EXPECT_THAT(out.str(), testing::ContainsRegex("end to end, profiling off +[0-9].*least disturbed, \\+- "));
  EXPECT_THAT(out.str(), testing::Not(HasSubstr("unreliable")));
}

TEST(Recorded, OnSeveralThreadsABusyMachineGivesNumbersToo) {
  Built built;
  built.executor->set_threads(2);
  MeasureOptions options = short_options();
  options.system = machine_with(1.4);
  const FusedTimes times = measure_fused(*built.executor, options);
  ASSERT_FALSE(times.node_times.empty());
  double sum = times.between.us;
  for (const Estimate& node : times.node_times) {
    EXPECT_GT(node.us, 0);
    EXPECT_TRUE(node.plus_minus_us);
    sum += node.us;
  }
  EXPECT_LE(times.plain.us, sum * 1.000001) << "a run is no longer than its kernels and what lies between";
  EXPECT_TRUE(times.plain.plus_minus_us);
}

TEST(Recorded, RunsOnASharedCoreDoNotCount) {
  Built built;
  MeasureOptions options = short_options();
  options.system = machine_with(0);
  int asked = 0;
  // Two of five readings: short runs share one, others have two of their own.
  options.core_is_slow = [&] { return ++asked % 5 < 2; };
  FusedTimes times = measure_fused(*built.executor, options);
  EXPECT_GE(times.plain.samples_us.size(), 16u) << "as many as are asked for";
  EXPECT_GT(times.plain.left_out, times.plain.samples_us.size() / 2);
  EXPECT_GT(times.node_times.front().left_out, 0u);
  EXPECT_EQ(times.plain.under_load, "");
  EXPECT_THAT(times.notes, testing::Contains(HasSubstr("left out: the core was slower than usual")));

  options.core_is_slow = [] { return true; };
  options.max_seconds = 0.05;
  times = measure_fused(*built.executor, options);
  EXPECT_EQ(times.plain.under_load, "") << "where there are no others, they count";
  EXPECT_LT(times.plain.left_out, times.plain.samples_us.size()) << "those that the system held";
  EXPECT_TRUE(times.plain.plus_minus_us);
  EXPECT_THAT(times.notes, testing::Contains(HasSubstr("times may be too long: in ")));
}

TEST(Recorded, RoundsInOtherMemoryGiveAnInterval) {
  Built built;
  MeasureOptions options = short_options();
  options.system = machine_with(0);
  std::set<const void*> places;
  int made = 0;
  const MeasuredModel models[] = {{built.executor.get(), [&] {
                                     ++made;
                                     auto other = another_executor(built.build, *built.executor);
                                     places.insert(other->entry(other->plan().heads[0]).data());
                                     return other;
                                   }}};
  const FusedTimes times = std::move(measure_in_turns(models, options).front());
  EXPECT_GE(made, options.rounds - 1);
  EXPECT_GT(places.size(), 1u);
  EXPECT_GE(times.plain.rounds_us.size() + times.plain.left_out, 3u);
  ASSERT_EQ(times.node_times.size(), times.nodes.size());
}

TEST(Recorded, AnotherExecutorComputesTheSame) {
  Built built;
  const auto other = another_executor(built.build, *built.executor);
  ASSERT_TRUE(other);
  ASSERT_TRUE(built.executor->run().ok());
  ASSERT_TRUE(other->run().ok());
  EXPECT_TRUE(other->output(0).equal_bytes(built.executor->output(0)));
  EXPECT_NE(other->node_function(built.build.kernels[0].first_node),
            built.executor->node_function(built.build.kernels[0].first_node));
}

TEST(Recorded, AnInterruptKeepsWhatWasMeasured) {
  Built built;
  MeasureOptions options = short_options();
  std::atomic<bool> stop{false};
  options.interrupt = &stop;
  options.system = machine_with(0);
  options.min_seconds = 1000;
  options.progress = [&](double) { stop = true; };
  options.max_seconds = 0.05;
  const FusedTimes times = measure_fused(*built.executor, options);
  EXPECT_TRUE(times.interrupted);
  EXPECT_FALSE(times.plain.samples_us.empty());
  EXPECT_EQ(make_report(built.build, built.executor->plan(), times, {}).partial, "interrupted");
}

TEST(Recorded, ShortKernelsAreCalledInLoops) {
  Built built;
  MeasureOptions options = short_options();
  options.system = machine_with(0);
  const FusedTimes times = measure_fused(*built.executor, options);
  ASSERT_EQ(times.calls_per_sample.size(), times.nodes.size());
  for (size_t i = 0; i < times.nodes.size(); ++i) {
    if (times.calls_per_sample[i] > 1) {
      EXPECT_LT(times.node_times[i].us * times.calls_per_sample[i], 10'000);
    }
    EXPECT_GT(times.node_times[i].us, 0);
  }
}

}  // namespace
}  // namespace baton
