// Searching schedules: what is found is kept, used by builds, and right.
#include "baton/tune/tune.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "baton/codegen/backend.h"
#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/runtime/baton_backend.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/text/parser.h"
#include "baton/tune/kernel_trial.h"
#include "baton/types/infer_type.h"

#include "codegen/kernels.h"

namespace baton {
namespace {

constexpr const char* kDense = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(12, 64), float32], %w: Tensor[(32, 64), float32]) {
  nn.relu(nn.dense(%x, %w, units=32))
})";

class Tune : public testing::Test {
 protected:
  void SetUp() override {
    initialize();
    context_.cache = &cache_;
  }

  BuildResult built() const {
    BuildOptions options{.context = context_};
    options.params.emplace_back("w", tensor_value("w", {32, 64}, DType::float_(32)));
    return build(infer_types(parse_module(kDense, "dense.relay")), options);
  }

  std::vector<TunedKernel> tuned(const BuildResult& result, double seconds,
                                 SystemSource system = machine(0)) const {
    const auto executor = make_executor(result);
    EXPECT_TRUE(executor->set_input(0, tensor_value("x", {12, 64}, DType::float_(32))).ok());
    TuneOptions options(context_);
    options.seconds = seconds;
    options.system = std::move(system);
    return tune(result, *executor, options);
  }

  /// A machine of two processors, on which other programs use `others` of them.
  static SystemSource machine(double others) {
    return [others, now = std::make_shared<double>(0)] {
      *now += 1;
      CpuUse use;
      use.at_s = *now, use.own_s = *now, use.all_s = *now * (1 + others), use.processors = 2;
      return SystemReading{use, 0};
    };
  }

  const test::Folder folder_;
  KernelCache cache_{folder_.path()};
  BuildContext context_ = host_context();
};

TEST_F(Tune, TextsAreReadAsTheyAreWritten) {
  TunedSchedule tuned{{"gemm", {{"tile_m", 8}, {"tile_n", 2}}}, "the default", 1.5, 2.25, 2, 5, 40};
  const auto read = TunedSchedule::from_text(tuned.text());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->text(), tuned.text());
  EXPECT_EQ(read->schedule.params, tuned.schedule.params);
  EXPECT_EQ(TunedSchedule::from_text(TunedSchedule().text())->schedule.template_name, "");
  const std::string text = tuned.text();
  for (size_t length = 0; length + 2 < text.size(); ++length)
    EXPECT_FALSE(TunedSchedule::from_text(text.substr(0, length))) << length;
}

TEST_F(Tune, EveryOtherScheduleIsOfferedOnceAndTheNearestFirst) {
  const BuildResult result = built();
  for (const BuiltKernel& kernel : result.kernels) {
    const KernelSchedule chosen{kernel.kernel->template_name, kernel.kernel->params};
    const auto others = other_schedules(kernel.function, chosen, context_.host());
    std::set<std::string> texts{schedule_text(chosen)};
    for (const KernelSchedule& each : others) EXPECT_TRUE(texts.insert(schedule_text(each)).second);
    EXPECT_FALSE(others.empty()) << kernel.func_name;
  }
}

TEST_F(Tune, WhatIsFoundIsUsedByTheNextBuild) {
  const BuildResult before = built();
  const BuiltKernel& kernel = before.kernels.back();
  const KernelSchedule chosen{kernel.kernel->template_name, kernel.kernel->params};
  const KernelSchedule other = other_schedules(kernel.function, chosen, context_.host()).front();
  keep_tuned(kernel.function, context_.host(), cache_, {other, "", 1, 2, 2, 1, 1});
  const BuildResult after = built();
  EXPECT_EQ(after.kernels.back().kernel->template_name, other.template_name);
  EXPECT_EQ(after.kernels.back().kernel->params, other.params);
  auto passes = std::make_shared<PassContext>();
  passes->config.set("baton.tuned", AttrValue(int64_t{0}));
  const BuildContext tuned = context_;
  context_ = context_.with_passes(passes);
  EXPECT_EQ(built().kernels.back().kernel->params, chosen.params) << "unless builds are told not to";
  context_ = tuned;
}

TEST_F(Tune, ADamagedEntryIsAsNone) {
  const BuildResult before = built();
  const BuiltKernel& kernel = before.kernels.back();
  const KernelSchedule chosen{kernel.kernel->template_name, kernel.kernel->params};
  const KernelSchedule other = other_schedules(kernel.function, chosen, context_.host()).front();
  const auto keep = [&] { keep_tuned(kernel.function, context_.host(), cache_, {other, "", 1, 2, 2, 1, 1}); };
  keep();
  std::string file;
  for (const auto& each : std::filesystem::recursive_directory_iterator(folder_.path()))
    if (each.path().extension() == ".tuned") file = each.path();
  std::ifstream whole(file, std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(whole), {}};
  ASSERT_GT(good.size(), 40u);
  std::string flipped = good;
  flipped[good.size() / 2] = static_cast<char>(flipped[good.size() / 2] ^ 1);
  for (const std::string& damaged : {flipped, good.substr(0, good.size() - 1), std::string(), good + "x"}) {
    std::ofstream(file, std::ios::binary) << damaged;
    EXPECT_FALSE(kept_tuned(kernel.function, context_.host(), cache_));
    EXPECT_EQ(built().kernels.back().kernel->params, chosen.params);
    keep();
    EXPECT_EQ(built().kernels.back().kernel->params, other.params) << "what is tuned again is kept";
  }
}

TEST_F(Tune, EntriesOfAnotherProcessorAreNotUsed) {
  const BuildResult result = built();
  const BuiltKernel& kernel = result.kernels.back();
  DeviceSheet other = context_.host();
  other.code_target += "-large_buffers";
  keep_tuned(kernel.function, other, cache_, {{"trivial", {}}, "", 1, 2, 2, 1, 1});
  EXPECT_FALSE(kept_tuned(kernel.function, context_.host(), cache_));
  EXPECT_TRUE(kept_tuned(kernel.function, other, cache_));
}

TEST_F(Tune, GoesOnWhereItEnded) {
  const BuildResult result = built();
  const auto first = tuned(result, 1e-9);
  EXPECT_TRUE(first.empty()) << "no time at all";
  int tried = 0;
  for (const TunedKernel& each : tuned(result, 30)) {
    EXPECT_EQ(each.after.tried, each.after.candidates) << each.func_name;
    EXPECT_GT(each.after.default_us, 0);
    tried += each.newly_tried;
  }
  EXPECT_GT(tried, 0);
  for (const TunedKernel& each : tuned(result, 30)) EXPECT_EQ(each.newly_tried, 0);
}

// Kernels that could not be judged were printed as "default us 0.0 tuned us 0.0".
TEST_F(Tune, OnABusyMachineOnlyWhatIsFasterForCertainIsKept) {
  for (const TunedKernel& each : tuned(built(), 30, machine(1))) {
    EXPECT_GT(each.after.default_us, 0) << each.func_name;
    EXPECT_GT(each.after.us, 0) << each.func_name;
    if (!each.after.schedule.template_name.empty()) {
      EXPECT_LE(each.after.us, 0.95 * each.after.default_us) << each.func_name;
      continue;
    }
    if (each.after.tried == each.after.candidates) continue;  // nothing looked faster
    EXPECT_THAT(each.disturbed, testing::HasSubstr("1.0 of 2 processors busy elsewhere"));
  }
}

TEST_F(Tune, AKernelThatComputesSomethingElseIsNotTaken) {
  const Function one = test::relu_chain({3, 40}, 1), other = [] {
    const Type type = test::f32({3, 40});
    const Var x = test::param("x", type);
    return test::primitive({x}, test::op_call("negative", {x}, type));
  }();
  const std::vector<Trial> right = compile_trials(one, std::vector<KernelSchedule>(1), context_),
                           wrong = compile_trials(other, std::vector<KernelSchedule>(1), context_);
  ASSERT_EQ(right.size(), 1u);
  ASSERT_EQ(wrong.size(), 1u);
  NDArray in = test::rule_inputs(one)[0], out = NDArray::empty({3, 40}, DType::float_(32));
  baton_dimension dims[] = {{0, 40, 1, 0}, {0, 3, 40, 0}};
  const auto tensor = [&](NDArray& array) {
    baton_tensor made{};
    made.host = static_cast<uint8_t*>(array.data());
    made.type = {2, 32, 1};
    made.dimensions = 2;
    made.dim = dims;
    return made;
  };
  baton_tensor tensors[] = {tensor(in), tensor(out)};
  void* args[] = {&tensors[0], &tensors[1]};
  const KernelTrial trial(right[0].function, args, 1);
  EXPECT_TRUE(trial.agrees(right[0]));
  EXPECT_FALSE(trial.agrees(wrong[0]));
  const std::vector<Estimate> times = trial.measure(right, {.rounds = 6}, machine(0));
  ASSERT_EQ(times.size(), 2u);
  for (const Estimate& each : times) EXPECT_GT(each.us, 0);
  for (const Estimate& each : trial.measure(right, {.rounds = 6}, machine(1.4)))
    EXPECT_EQ(each.under_load, "1.4 of 2 processors busy elsewhere");
}

TEST_F(Tune, SchedulesThatHalideRefusesAreLeftOut) {
  const Function function = test::relu_chain({3, 40}, 1);
  const std::vector<KernelSchedule> schedules = {{}, {"gemm", {{"tile_m", 1}}}, {"conv_winograd", {}}};
  EXPECT_EQ(compile_trials(function, schedules, context_).size(), 1u);
}

}  // namespace
}  // namespace baton
