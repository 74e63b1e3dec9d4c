#include "baton/profile/inside/sampling.h"

#include <chrono>
#include <csignal>
#include <ctime>
#include <memory>
#include <thread>

#include <gmock/gmock.h>
#include <unistd.h>

#include "baton/codegen/backend.h"
#include "baton/codegen/compile.h"
#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/profile/inside/pc_sampler.h"
#include "baton/runtime/system/timers.h"
#include "baton/runtime/thread_pool.h"
#include "baton/text/parser.h"

#include "changed_setting.h"

namespace baton {
namespace {

using ::testing::HasSubstr;

/// A convolution with a big sum, and so little else that nearly all of the time is in its stage.
constexpr const char* kProgram =
    "#[version = \"0.0.5\"]\n"
    "def @main(%x: Tensor[(1, 128, 28, 28), float32], %w: Tensor[(2048, 128, 3, 3), float32], %b: "
    "Tensor[(2048, 1, 1), float32]) {\n"
    "  nn.relu(add(nn.conv2d(%x, %w, strides=[2, 2], padding=[1, 1, 1, 1], channels=2048, kernel_size=[3, "
    "3]), %b))\n"
    "}\n";

struct BuiltModel {
  BuildResult built;
  std::unique_ptr<Executor> executor;
};

BuiltModel model(int threads) {
  initialize();
  BuildOptions options{.context = host_context()};
  options.context.passes->opt_level = 3;
  for (const auto& [name, shape] : std::vector<std::pair<std::string, std::vector<int64_t>>>{
           {"w", {2048, 128, 3, 3}}, {"b", {2048, 1, 1}}})
    options.params.emplace_back(name, NDArray::zeros(shape, DType::float_(32)));
  BuiltModel model{build(parse_module(kProgram, "test.relay"), options), nullptr};
  model.executor = make_executor(model.built);
  model.executor->set_threads(threads);
  return model;
}

SampleOptions quick() {
  SampleOptions options(host_context());
  options.seconds = 0.3;
  options.hz = 2000;
  return options;
}

const SampledKernel& convolution(const ModelSamples& samples) {
  for (const SampledKernel& kernel : samples.kernels)
    if (kernel.func_names[0].find("conv2d") != std::string::npos) return kernel;
  throw std::logic_error("no convolution");
}

void expect_in_the_sum(const SampleCounts& counts) {
  ASSERT_GT(counts.in_kernel, 50u);
  uint64_t sum = 0;
  for (const SampledStage& stage : counts.stages) sum += stage.samples;
  EXPECT_EQ(sum, counts.in_kernel);
  sum = 0;
  for (const SampledRange& range : counts.ranges) sum += range.samples;
  EXPECT_EQ(sum, counts.in_kernel);
  for (const SampledStage& stage : counts.stages) {
    if (stage.stage != "conv2d") continue;
    EXPECT_GT(counts.share(stage), 0.9);
    EXPECT_THAT(stage.blocks, ::testing::ElementsAre(0));
    return;
  }
  FAIL() << "no stage conv2d";
}

TEST(Sampling, FindsTheStageThatTakesTheTime) {
  for (const int threads : {1, 2}) {
    const BuiltModel subject = model(threads);
    const Result<ModelSamples> samples = sample_model(subject.built, *subject.executor, quick());
    ASSERT_TRUE(samples.ok()) << samples.status().message;
    expect_in_the_sum(convolution(*samples).counts);
    EXPECT_GT(samples->runs, 3u);
    EXPECT_GT(samples->plain_us, 0);
    // On one thread there is hardly anything but kernels; what else there was is counted, too.
    if (threads == 1) {
      EXPECT_LT(samples->outside, samples->in_kernels);
      EXPECT_EQ(samples->idle, 0u);
    }
  }
}

TEST(Sampling, OfOneKernelInTheMemoryOfTheModel) {
  const BuiltModel subject = model(1);
  const ThreadScope one(1);
  ASSERT_TRUE(subject.executor->run().ok());
  const Plan& plan = subject.executor->plan();
  SampleOptions options = quick();
  options.seconds = 2;  // a busy machine under a sanitizer made 6 runs in 0.3 s
  for (uint32_t node = 0; node < plan.nodes.size(); ++node) {
    for (const BuiltKernel& kernel : subject.built.kernels) {
      if (kernel.func_name != plan.nodes[node].func_name ||
          kernel.func_name.find("conv2d") == std::string::npos)
        continue;
      const Result<SampleCounts> counts =
          sample_kernel(kernel.request, *kernel.kernel, *subject.built.host_code().library,
                        subject.executor->node_args(node), options);
      ASSERT_TRUE(counts.ok()) << counts.status().message;
      expect_in_the_sum(*counts);
      EXPECT_GT(counts->runs, 10u);
      EXPECT_LT(counts->outside, counts->in_kernel);
    }
  }
}

TEST(Sampling, IsNotToBeHadOfKernelsFromTheJit) {
  const ChangedSetting changed(&Environment::linker, "/nowhere/ld");
  const BuiltModel subject = model(1);
  const Result<ModelSamples> samples = sample_model(subject.built, *subject.executor, quick());
  EXPECT_EQ(samples.status().code, StatusCode::kUnavailable);
  EXPECT_THAT(samples.status().message,
              HasSubstr("Halide's JIT, without a linker, cannot be sampled: install binutils"));
}

TEST(Sampling, StopsWhenAskedTo) {
  const BuiltModel subject = model(1);
  std::atomic<bool> stop{true};
  SampleOptions options = quick();
  options.compile.interrupt = &stop;
  EXPECT_THROW((void)sample_model(subject.built, *subject.executor, options), Interrupted);
  options.compile.interrupt = nullptr;  // and the next one finds all in order
  EXPECT_TRUE(sample_model(subject.built, *subject.executor, options).ok());
}

uintptr_t code_here() { return reinterpret_cast<uintptr_t>(&code_here); }

bool handles_nothing() {
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) {
    struct sigaction now{};
    sigaction(signal, nullptr, &now);
    if (now.sa_handler != SIG_DFL) return false;
  }
  return true;
}

void burn(double seconds) {
  const int64_t start = monotonic_ns();
  while (static_cast<double>(monotonic_ns() - start) < seconds * 1e9) {
  }
}

TEST(PcSampler, CountsWhatIsElsewhereAndPutsBackWhatItChanged) {
  ASSERT_TRUE(handles_nothing());
  uint64_t most = 0;
  for (int round = 0; round < 20; ++round) {
    auto sampler = PcSampler::create(code_here(), code_here() + 1, 5000);
    ASSERT_TRUE(sampler.ok()) << sampler.status().message;
    EXPECT_FALSE(handles_nothing());
    ASSERT_TRUE((*sampler)->start(false).ok());
    burn(0.01);
    (*sampler)->stop();
    const PcCounts counts = (*sampler)->counts();
    most = std::max(most, counts.outside);
    EXPECT_EQ(counts.idle, 0u);
    burn(0.001);
    EXPECT_EQ((*sampler)->counts().outside, counts.outside) << "counted after it stopped";
    if (round % 2) {
      ASSERT_TRUE((*sampler)->start(false).ok());  // and goes while it runs
    }
  }
  EXPECT_GT(most, 2u);
  EXPECT_TRUE(handles_nothing());
  burn(0.01);  // no late signal ends the process
}

TEST(PcSampler, DoesNotDisturbCallsOfTheSystem) {
  auto sampler = PcSampler::create(code_here(), code_here() + 1, 5000);
  ASSERT_TRUE(sampler.ok());
  ASSERT_TRUE((*sampler)->start(false).ok());
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    ASSERT_EQ(write(ends[1], "x", 1), 1);
  });
  char got = 0;
  EXPECT_EQ(read(ends[0], &got, 1), 1);
  EXPECT_EQ(got, 'x');
  writer.join();
  (*sampler)->stop();
  EXPECT_GT((*sampler)->counts().outside, 0u);
  close(ends[0]);
  close(ends[1]);
}

TEST(PcSampler, TakesAnotherSignalWhenSomeAreTakenAndSaysSoWhenAllAre) {
  const auto handler = [](int) {};
  std::vector<int> taken;
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) taken.push_back(signal);
  for (const int signal : taken) std::signal(signal, handler);
  {
    auto sampler = PcSampler::create(code_here(), code_here() + 1, 5000);
    ASSERT_TRUE(sampler.ok()) << sampler.status().message;  // SIGPROF is left
    ASSERT_TRUE((*sampler)->start(false).ok());
    burn(0.01);
  }
  std::signal(SIGPROF, handler);
  const auto refused = PcSampler::create(code_here(), code_here() + 1, 5000);
  EXPECT_EQ(refused.status().code, StatusCode::kUnavailable);
  EXPECT_THAT(refused.status().message, HasSubstr("sampling needs a signal"));
  for (const int signal : taken) std::signal(signal, SIG_DFL);
  std::signal(SIGPROF, SIG_DFL);
  EXPECT_EQ(PcSampler::create(10, 10, 1000).status().code, StatusCode::kInvalidArgument);
  EXPECT_EQ(PcSampler::create(10, 20, 0).status().code, StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace baton
