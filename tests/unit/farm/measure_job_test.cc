// Jobs: what they sample, and how they wait for a core that another virtual machine shares.
#include "baton/farm/measure/measure_job.h"

#include <chrono>

#include <gtest/gtest.h>

#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/runtime/model.h"
#include "baton/runtime/system/timers.h"
#include "baton/text/parser.h"

namespace baton {
namespace {

/// While the other loop takes a microsecond.
CoreReading at(double filled_ns) { return {filled_ns, 1000}; }
CoreReading shared() { return at(2150); }

class PacedJobs : public testing::Test {
 protected:
  void SetUp() override {
    initialize();
    use("def @main(%x: Tensor[(8, 16), float32]) { nn.softmax(nn.relu(%x)) }");
  }
  void use(const std::string& program) {
    BuildOptions options;
    options.context = host_context();
    built_ = build(parse_module("#[version = \"0.0.5\"]\n" + program + "\n", "paced"), options);
    executor_ = make_executor(built_);
  }
  BuildResult built_;
  std::unique_ptr<Executor> executor_;
};

TEST_F(PacedJobs, WaitForTheCore) {
  constexpr int kFast = 64, kSlow = 3000;
  int readings = 0;
  CorePace pace([&] { return ++readings > kFast && readings <= kFast + kSlow ? shared() : at(1700); });
  Protocol protocol;
  protocol.max_seconds = 0.05;
  const auto begin = std::chrono::steady_clock::now();
  const MeasuredJob job =
      measure_job(*executor_, protocol, {.core = [&] { return pace.look(); }, .most_pause_s = 10});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  ASSERT_EQ(job.rows.size(), 1U);
  EXPECT_GT(readings, kFast + kSlow);
  // At most two times three looks each 2 ms; samples alone would read it a thousand times within the 50 ms.
  EXPECT_GE(took.count(), kSlow / 6 * 2e-3);
}

TEST_F(PacedJobs, SamplesOfACoreThatBecomesSlowDoNotCount) {
  // Longer than the time between two looks, so that each sample ends with one.
  use("def @main(%x: Tensor[(256, 1024), float32]) { nn.softmax(nn.relu(%x)) }");
  int readings = 0;
  // Behind the first ones, which teach what is usual: one look before each sample, three behind it.
  CorePace pace([&] { return readings++ >= 64 && (readings - 1) % 4 ? shared() : at(1700); });
  Protocol protocol;
  protocol.max_seconds = 0.05;
  const MeasuredJob job =
      measure_job(*executor_, protocol, {.core = [&] { return pace.look(); }, .most_pause_s = 0.1});
  ASSERT_EQ(job.rows.size(), 1U);
  EXPECT_TRUE(job.rows[0].under_load || job.rows[0].samples_us.size() == job.rows[0].disturbed.size());
}

TEST_F(PacedJobs, RowsSayHowFastTheCoreWas) {
  int readings = 0;
  CorePace pace([&] { return at(1700.0 + 10 * (readings++ % 5)); });  // the clock's steps
  Protocol protocol;
  protocol.nodes = true;
  protocol.max_seconds = 0.1;
  const MeasuredJob job = measure_job(*executor_, protocol, {.core = [&] { return pace.look(); }});
  ASSERT_GE(job.rows.size(), 2U);
  for (const JobRow& row : job.rows) EXPECT_NEAR(row.core_ns, 1720, 4) << row.node;
  for (const JobRow& row : measure_job(*executor_, protocol).rows) EXPECT_EQ(row.core_ns, 0) << row.node;
}

TEST_F(PacedJobs, KernelsTooShortForTheClockAreCalledInLoops) {
  Protocol protocol;
  protocol.nodes = true;
  protocol.max_seconds = 0.2;
  const MeasuredJob job = measure_job(*executor_, protocol);
  ASSERT_GE(job.rows.size(), 2U);
  for (const JobRow& row : job.rows) {
    if (row.node.empty()) continue;
    EXPECT_EQ(row.cache, CacheState::kHot) << row.node;
    EXPECT_GE(row.calls_per_sample, 30) << row.node;
    // Beside other programs (of the machine that runs the tests) the least disturbed ones are left.
    if (!row.under_load) {
      EXPECT_GE(row.samples_us.size(), static_cast<size_t>(protocol.min_samples)) << row.node;
    }
    for (const double us : row.samples_us) EXPECT_GT(us, 0) << row.node;
  }
}

TEST_F(PacedJobs, ClocksThatNeverAgreeAreAnError) {
  SampleConditions conditions;
  conditions.clocks.ns_per_tick *= 100;
  Protocol protocol;
  protocol.max_seconds = 0.05;
  try {
    measure_job(*executor_, protocol, conditions);
    FAIL() << "measured";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("could be timed"), std::string::npos) << error.what();
  }
}

// Where the clocks had disagreed once, it said that they never agree.
TEST_F(PacedJobs, ProgramsWithoutKernelsSaySo) {
  use("def @main(%x: Tensor[(8, 16), float32]) { reshape(%x, newshape=[16, 8]) }");
  Protocol protocol;
  protocol.alone = true;
  SampleConditions conditions;
  int readings = 0;
  conditions.clocks.ticks = [&] { return fenced_ticks() + (++readings == 5 ? 1'000'000'000 : 0); };
  try {
    measure_job(*executor_, protocol, conditions);
    FAIL() << "measured";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("no kernel to measure"), std::string::npos) << error.what();
  }
}

TEST_F(PacedJobs, OutputsAreThoseOfAWholeRunAfterSingleKernelsWereCalled) {
  // The result of the last, long layer lies where that of the first, short operator did.
  use("def @main(%x: Tensor[(32, 32), float32], %w: Tensor[(2048, 32), float32], %v: Tensor[(32, 2048), "
      "float32]) {\n"
      "  %0 = cumsum(%x, axis=1); %1 = nn.softmax(%0); %2 = nn.dense(%1, %w, units=2048);\n"
      "  nn.dense(%2, %v, units=32) }");
  std::vector<float> ramp(2048 * 32);
  for (size_t i = 0; i < ramp.size(); ++i) ramp[i] = static_cast<float>(i % 13) - 6;
  for (const auto& [input, shape] :
       {std::pair("x", std::vector<int64_t>{32, 32}), std::pair("w", std::vector<int64_t>{2048, 32}),
        std::pair("v", std::vector<int64_t>{32, 2048})})
    ASSERT_TRUE(
        executor_
            ->set_input(input, NDArray::of<float>(
                                   shape, std::span(ramp).first(static_cast<size_t>(shape[0] * shape[1])),
                                   DType::float_(32)))
            .ok());
  const auto out = [&] {
    const NDArray array = executor_->output(0);
    const auto values = array.as<float>();
    return std::vector<float>(values.begin(), values.end());
  };
  ASSERT_TRUE(executor_->run().ok());
  const std::vector<float> expected = out();
  for (const bool alone : {false, true}) {
    Protocol protocol;
    protocol.nodes = !alone;
    protocol.alone = alone;
    protocol.max_seconds = 0.05;
    measure_job(*executor_, protocol);
    EXPECT_EQ(out(), expected) << alone;
  }
}

}  // namespace
}  // namespace baton
