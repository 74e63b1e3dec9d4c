// Measuring real kernels, small ones: what clocks, threads and users may do to it.
#include "baton/profile/inside/inside.h"

#include <gmock/gmock.h>

#include "baton/codegen/backend.h"
#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/runtime/system/timers.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/support/interrupt.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

#include "codegen/kernels.h"

namespace baton {
namespace {

using testing::HasSubstr;

constexpr const char* kDenseNet = R"(#[version = "0.0.5"]
def @main(%data: Tensor[(64, 128), float32], %weight: Tensor[(96, 128), float32], %bias: Tensor[(96), float32]) {
  %0 = nn.dense(%data, %weight, units=96);
  %1 = nn.bias_add(%0, %bias);
  %2 = nn.relu(%1);
  nn.softmax(%2)
}
)";

struct Net {
  test::Folder folder;
  KernelCache cache{folder.path()};
  BuildResult build;
  std::unique_ptr<Executor> executor;
  InsideOptions options{host_context()};

  Net() {
    initialize();
    BuildOptions how{.context = host_context()};
    how.context.cache = &cache;
    how.context.passes->opt_level = 1;
    build = baton::build(infer_types(parse_module(kDenseNet, "net.relay")), how);
    executor = make_executor(build);
    executor->set_threads(1);
    for (size_t i = 0; i < executor->num_inputs(); ++i) {
      const PlanEntry& entry = executor->input_entry(i);
      EXPECT_TRUE(
          executor->set_input(i, tensor_value(executor->input_node(i).name, entry.shape, entry.dtype)).ok());
    }
    options.ms_per_kernel = 5;
    options.compile.cache = &cache;
  }
  std::map<std::string, InsideTimes> measure() { return measure_inside(build, *executor, options); }
};

TEST(MeasureInside, EveryBlockOfEveryKernelHasAPart) {
  Net net;
  net.options.ms_per_kernel = 60;  // on a busy machine a few calls use up less than that
  for (const auto& [name, times] : net.measure()) {
    std::set<int> named;
    for (const InsidePart& part : times.parts) named.insert(part.blocks.begin(), part.blocks.end());
    for (const BuiltKernel& kernel : net.build.kernels) {
      if (kernel.func_name != name) continue;
      EXPECT_EQ(named.size(), kernel_blocks(*kernel.function).size()) << name;
    }
    EXPECT_EQ(times.threads, 1);
    EXPECT_TRUE(times.loads.empty());
    EXPECT_GE(times.tally.measured, 15u);
  }
}

TEST(MeasureInside, AClockThatStepsCostsTheRoundsItStepsInAndNothingElse) {
  Net net;
  int64_t offset = 0;
  int calls = 0;
  net.options.clock = [&] {
    if (++calls % 211 == 0)
      offset -= 3'000'000'000;  // about a second back, in between two readings of one call or of two
    if (calls % 307 == 0) offset += 7'000'000'000;
    return fenced_ticks() + static_cast<uint64_t>(offset + 1'000'000'000'000);
  };
  size_t left_out = 0;
  for (const auto& [name, times] : net.measure()) {
    left_out += times.tally.stepped + times.tally.disturbed;
    EXPECT_LT(times.tally.stepped, times.tally.measured / 2) << name;
    EXPECT_GT(times.plain_us, 0) << name;
    EXPECT_LT(times.plain_us, 100'000) << name << ": a step was taken for a time";
    for (const InsidePart& part : times.parts) {
      EXPECT_GE(part.share, 0) << name;
      EXPECT_LT(part.share, 1.5) << name;
    }
  }
  EXPECT_GT(left_out, 0u);
}

TEST(MeasureInside, AClockThatRunsBackwardsIsRefused) {
  Net net;
  uint64_t now = 1'000'000'000'000;
  net.options.clock = [&] { return now -= 1000; };
  try {
    net.measure();
    FAIL() << "times were made of a clock that runs backwards";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("clock of this machine steps"));
    EXPECT_THAT(error.what(), HasSubstr("BATON_CLOCK=system"));
  }
}

TEST(MeasureInside, OnThreadsItTellsWhatEachStageKeptBusy) {
  Net net;
  net.options.threads = 2;
  for (const auto& [name, times] : net.measure()) {
    EXPECT_EQ(times.threads, 2) << name;
    EXPECT_GT(times.threads_us, 0) << name;
    ASSERT_FALSE(times.loads.empty()) << name;
    for (const StageLoad& load : times.loads) EXPECT_FALSE(load.blocks.empty()) << name;
    EXPECT_GT(times.utilisation(), 0.1) << name;
  }
}

TEST(MeasureInside, StopsWhenAsked) {
  Net net;
  std::atomic<bool> stop{false};
  net.options.compile.interrupt = &stop;
  net.options.ms_per_kernel = 60'000;
  net.options.progress = [&](int, int) { stop = true; };
  EXPECT_THROW(net.measure(), Interrupted);
}

}  // namespace
}  // namespace baton
