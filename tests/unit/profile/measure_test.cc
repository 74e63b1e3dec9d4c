// Measuring: by clocks that step too, and without a trace in what ships.
#include "baton/profile/measure/measure.h"

#include <gmock/gmock.h>

#include "baton/codegen/backend.h"
#include "baton/profile/inside/inside.h"
#include "baton/support/error.h"

#include "profile/small_net.h"

namespace baton {
namespace {

using test::Built;
using testing::HasSubstr;

/// Clocks of which every third interval is too long by a millisecond.
Clocks stepping() {
  const auto readings = std::make_shared<int>(0);
  const auto clocks = Clocks::of_this_machine();
  return {[=] {
            const bool steps = ++*readings % 6 == 0;
            return clocks.ticks() + (steps ? static_cast<uint64_t>(1e6 / clocks.ns_per_tick) : 0);
          },
          clocks.system_ns, clocks.ns_per_tick};
}

MeasureOptions on_a_core_of_its_own() {
  MeasureOptions options;
  options.core_is_slow = [] { return false; };
  return options;
}

TEST(Measure, RunsDuringWhichTheClockSteppedAreLeftOut) {
  Built built;
  MeasureOptions options = on_a_core_of_its_own();
  options.min_runs = 9;
  options.min_seconds = 0.001;
  options.clocks = stepping();
  const FusedTimes fused = measure_fused(*built.executor, options);
  EXPECT_THAT(fused.notes,
              testing::Contains(HasSubstr("runs were left out: the processor's time stamp counter stepped")));
  for (double us : fused.plain_us) EXPECT_LT(us, 1e6);
}

TEST(Measure, ProcessorsThatMoveAreNoted) {
  Built built;
  MeasureOptions options = on_a_core_of_its_own();
  options.min_runs = 4;
  options.min_seconds = 0.001;
  options.rounds = 4;
  int round = 0;
  options.exchange = [&](int) { return ++round % 2 ? 140.0 : 510.0; };
  const FusedTimes fused = measure_fused(*built.executor, options);
  EXPECT_GE(fused.exchange_ns.size(), 4u);
  EXPECT_THAT(fused.notes, testing::Contains(HasSubstr("the system moved the processors")));
}

TEST(Measure, DistancesAreThoseOfThreads) {
  EXPECT_EQ(exchange_ns(1), std::nullopt);
  // Without a second processor, nobody may come in time.
  if (const std::optional<double> ns = exchange_ns(2)) {
    EXPECT_GT(*ns, 10);
    EXPECT_LT(*ns, 2e6);
  }
  EXPECT_FALSE(distances_differ(140, 160));
  EXPECT_TRUE(distances_differ(510, 140));
}

TEST(Measure, ClocksThatNeverAgreeAreAnError) {
  Built built;
  MeasureOptions options = on_a_core_of_its_own();
  options.min_runs = 3;
  options.min_seconds = 0.001;
  options.clocks.ns_per_tick *= 100;
  try {
    measure_fused(*built.executor, options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(
        error.what(),
        HasSubstr("could be timed: this machine's time stamp counter and its monotonic clock disagree"));
  }
}

TEST(Measure, LeavesTheShippedKernelsAsTheyAre) {
  Built built;
  const std::string library = built.build.host_code().blob;
  std::vector<std::string> objects;
  for (const BuiltKernel& kernel : built.build.kernels) objects.push_back(kernel.kernel->object);
  ASSERT_TRUE(built.executor->run().ok());
  const NDArray before = built.executor->output(0).copy();
  MeasureOptions options = on_a_core_of_its_own();
  options.min_runs = 3;
  options.min_seconds = 0.01;
  const FusedTimes fused = measure_fused(*built.executor, options);
  InsideOptions inside_options(host_context());
  inside_options.ms_per_kernel = 5;
  inside_options.compile.cache = &built.cache;
  const auto inside = measure_inside(built.build, *built.executor, inside_options);
  EXPECT_EQ(inside.size(), built.build.kernels.size());
  for (size_t i = 0; i < objects.size(); ++i) {
    // Compiled again, from nothing, as if nobody had asked for a profile: byte by byte what was measured.
    const test::Folder folder;
    KernelCache fresh(folder.path());
    BuildContext compile = host_context();
    compile.cache = &fresh;
    const KernelRequest& request = built.build.kernels[i].request;
    EXPECT_EQ(compile_kernels({&request, 1}, compile)[0]->object, objects[i])
        << built.build.kernels[i].func_name;
  }
  EXPECT_EQ(built.build.host_code().blob, library);
  ASSERT_TRUE(built.executor->run().ok());
  EXPECT_TRUE(built.executor->output(0).equal_bytes(before));

  const ProfileReport report = make_report(built.build, built.executor->plan(), fused, inside);
  for (const KernelRow& row : report.kernels) {
    double sum = 0;
    std::set<uint32_t> named;
    for (const InsideRow& part : row.inside) {
      EXPECT_GE(part.share, 0);
      sum += part.share;
      named.insert(part.ids.begin(), part.ids.end());
    }
    EXPECT_GT(sum, 0.5) << row.name;
    for (uint32_t id : row.origins) EXPECT_TRUE(named.count(id)) << row.name << " lacks operator " << id;
  }
}

TEST(Measure, RoundsWithOtherWorkInBetweenAreRoundsOfOneMeasurement) {
  Built built;
  MeasureOptions options = on_a_core_of_its_own();
  options.min_seconds = 0.08;
  options.rounds = 4;
  options.exchange = [](int) { return std::optional<double>(); };  // takes as long as a round here
  const MeasuredModel model[] = {{built.executor.get(), {}}};
  ModelMeasurement measurement(model, options);
  measurement.rounds(2);
  EXPECT_EQ(measurement.so_far().front().plain.rounds_us.size(), 2u);
  EXPECT_GT(measurement.seconds_for_rest(), 0);
  measurement.rounds(1);
  EXPECT_EQ(measurement.so_far().front().plain.rounds_us.size(), 3u);
  measurement.rounds(1);
  EXPECT_EQ(measurement.seconds_for_rest(), 0);
  const std::vector<FusedTimes> times = measurement.result();
  EXPECT_GE(times.front().plain.rounds_us.size(), 4u);  // more of them on a busy machine
  EXPECT_EQ(times.front().node_times.size(), times.front().nodes.size());
}

TEST(Measure, AnotherWayToRunIsSampledBesideThePairsOfItsRound) {
  Built built;
  MeasureOptions options = on_a_core_of_its_own();
  options.min_runs = 6;
  options.rounds = 3;
  options.min_seconds = 0.001;
  options.system = [] { return SystemReading(); };  // a quiet machine
  int made = 0, runs = 0;
  const MeasuredModel model[] = {{built.executor.get(), {}, [&]() -> TimedRun {
                                    ++made;
                                    return [&runs, us = 1000.0 * made] { return ++runs, us; };
                                  }}};
  const FusedTimes times = std::move(measure_in_turns(model, options).front());
  EXPECT_GE(made, 3);
  EXPECT_GE(runs, 6);
  ASSERT_GE(times.other.rounds_us.size(), 3u);
  EXPECT_EQ(times.other.rounds_us[0], 1000);
  EXPECT_EQ(times.other.rounds_us[2], 3000);
  EXPECT_EQ(times.other.us, 500.0 * (made + 1)) << "the median of the rounds";
  const MeasuredModel without[] = {{built.executor.get(), {}, {}}};
  EXPECT_EQ(measure_in_turns(without, options).front().other.us, 0);
}

TEST(Measure, SomeRoundsAreMadeWhateverTheTime) {
  Built built;
  MeasureOptions options = on_a_core_of_its_own();
  options.max_seconds = 1e-6;
  options.system = [] { return SystemReading(); };  // a quiet machine
  const auto rounds = [&] {
    const MeasuredModel model[] = {{built.executor.get(), {}, {}}};
    return measure_in_turns(model, options).front().plain.rounds_us.size();
  };
  EXPECT_EQ(rounds(), 1u);
  options.least_rounds = 3;
  EXPECT_EQ(rounds(), 3u);
}

// A verdict of map had two rounds of the three that it asked for, beside other programs.
TEST(Measure, RoundsThatDoNotCountAreMadeUpFor) {
  Built built;
  MeasureOptions options = on_a_core_of_its_own();
  options.max_seconds = 1e-6;
  options.least_rounds = 3;
  options.system = [] { return SystemReading(); };  // a quiet machine
  int rounds = 0, without = 1;                      // samples: so many rounds, while the clock steps
  options.exchange = [&](int) { return ++rounds, 140.0; };
  const Clocks clocks = options.clocks;
  uint64_t steps = 0;
  options.clocks.ticks = [&] {
    if (rounds <= without) ++steps;
    return clocks.ticks() + steps * static_cast<uint64_t>(1e6 / clocks.ns_per_tick);
  };
  const auto counted = [&] {
    rounds = 0;
    const MeasuredModel model[] = {{built.executor.get(), {}, {}}};
    return measure_in_turns(model, options).front().plain.rounds_us.size();
  };
  EXPECT_EQ(counted(), 3u);
  EXPECT_EQ(rounds, 4);
  without = 8;
  EXPECT_EQ(counted(), 3u);
  EXPECT_EQ(rounds, 11);
  without = 1000;
  EXPECT_THROW(counted(), Error);
}

TEST(Measure, StopsWhenAsked) {
  Built built;
  const std::atomic<bool> stop{true};
  MeasureOptions options = on_a_core_of_its_own();
  options.interrupt = &stop;
  EXPECT_THROW(measure_fused(*built.executor, options), Interrupted);
}

TEST(Statistics, Variation) {
  EXPECT_EQ(coefficient_of_variation({5}), 0);
  EXPECT_DOUBLE_EQ(coefficient_of_variation({1, 3}), std::sqrt(2.0) / 2);
}

}  // namespace
}  // namespace baton
