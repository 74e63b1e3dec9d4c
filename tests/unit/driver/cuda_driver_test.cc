// The runtime half of `cuda` over a stand-in for CUDA's driver (runtime/fake_cuda), which interprets the
// kernels: right numbers, and what is said when something fails. Each test is a process of its own, since a
// driver is looked for once in each.
#include <algorithm>
#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baton/frontend/workloads/networks.h"
#include "baton/profile/measure/measure.h"
#include "baton/runtime/model.h"
#include "baton/support/error.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

#include "driver/device_programs.h"
#include "properties/module_value.h"
#include "properties/random_module.h"
#include "runtime/cuda.h"
#include "runtime/fake_cuda.h"

namespace baton {
namespace {

constexpr int kProcessorType = 1;

IRModule on_cuda_program() {
  return parse_module(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) {
  %0 = exp(%x);
  %1 = on_device(%0, virtual_device=VirtualDevice(device_type=1, virtual_device_id=0));
  %2 = nn.dense(%1, %w, units=4);
  %3 = nn.relu(%2);
  %4 = on_device(%3, virtual_device=VirtualDevice(device_type=2, virtual_device_id=0));
  nn.softmax(%4)
}
)",
                      "split.relay");
}

/// The same, without devices.
IRModule plain_program() {
  return parse_module(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) {
  nn.softmax(nn.relu(nn.dense(exp(%x), %w, units=4)))
}
)",
                      "plain.relay");
}

/// What running it fails with; empty when it does not.
std::string run_failure(Executor& executor) {
  for (size_t i = 0; i < executor.num_inputs(); ++i) {
    const PlanEntry& entry = executor.input_entry(i);
    const Status set =
        executor.set_input(i, parameter_value(executor.input_node(i).name, entry.shape, entry.dtype));
    if (!set.ok()) return set.message;
  }
  return executor.run().message;
}

/// What making an executor fails with.
std::string load_failure(const BuildResult& built) {
  try {
    make_executor(built);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

BuildResult split_program(const std::string& cuda = "cuda") {
  return build(on_cuda_program(), on({"llvm", cuda}));
}

void expect_as_on_processor(const IRModule& module, const BuildResult& built, double tolerance) {
  EXPECT_LT(properties::difference(outputs_of(build(module, on({"llvm"}))), outputs_of(built)), tolerance);
}

void expect_split_program_right() {
  const BuildResult built = split_program();
  EXPECT_GT(kernels_on(built, "cuda"), 0);
  EXPECT_FALSE(copies_of(built).empty());
  expect_conserved(built);
  expect_as_on_processor(plain_program(), built, 1e-5);
}

/// Whether a type is of tensors whose extents are all known.
bool is_constant(const Type& type) {
  if (const auto* tuple = as_type<TupleTypeNode>(type))
    return std::ranges::all_of(tuple->fields(), is_constant);
  const auto* tensor = as_type<TensorTypeNode>(type);
  return tensor && tensor->is_static();
}

/// Whether the graph executor takes the program.
bool has_constant_types(const IRModule& module) {
  bool constant = true;
  post_order(module->find("main")->body(), [&](const Expr& node) {
    if (node->kind() == ExprKind::kCall || node->kind() == ExprKind::kVar)
      constant &= is_constant(node->checked_type());
  });
  return constant;
}

/// The first `count` straight programs of constant types from seed 300 on, each operator on one device or the
/// other.
void expect_scattered_programs_right(int count) {
  int looked_at = 0;
  for (uint64_t seed = 300; looked_at < count && seed < 2000; ++seed) {
    const IRModule module = infer_types(parse_module(properties::random_module(seed), "random.relay"));
    if (!is_straight(module) || !has_constant_types(module)) continue;
    std::mt19937_64 random(seed);
    const int devices[] = {kProcessorType, kCudaKind};
    const IRModule scattered = Scatter::over(module, [&](const Expr&) { return devices[random() % 2]; });
    const BuildResult split = build(scattered, on({"llvm", "cuda"}));
    ++looked_at;
    expect_conserved(split);
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_as_on_processor(module, split, 1e-4);
  }
  EXPECT_EQ(looked_at, count);
}

void expect_kernels_timed() {
  const BuildResult built = split_program();
  const auto executor = make_executor(built);
  outputs_of(*executor);
  const auto profile = executor->run_profiled(2);
  ASSERT_TRUE(profile.ok()) << profile.status().message;
  for (const auto& row : profile->node_ns) EXPECT_GT(row[0], 0);
}

TEST(CudaDriver, ProgramsOnBothComputeWhatTheProcessorDoesAndLeaveNothing) {
  IN_A_PROCESS_WITH_A_DRIVER(Settings{}, [] {
    expect_split_program_right();
    EXPECT_EQ(used_bytes(), 0u);
  });
}

TEST(CudaDriver, ResNet8IsRight) {
  IN_A_PROCESS_WITH_A_DRIVER(Settings{}, [] {
    workloads::ImageNetOptions image;
    image.image_shape = {3, 16, 16};
    image.num_classes = 10;
    const IRModule module = infer_types(workloads::resnet(8, image));
    BuildOptions one = on({"llvm"}), other = on({"cuda -arch=sm_80"});
    one.params = other.params = weights_by_rule(module);
    const BuildResult built = build(module, other);
    EXPECT_LT(properties::difference(outputs_of(build(module, one)), outputs_of(built)), 1e-4);
  });
}

TEST(CudaDriver, RandomProgramsScatteredOverBothAreRight) {
  IN_A_PROCESS_WITH_A_DRIVER(Settings{}, [] { expect_scattered_programs_right(6); });
}

/// Maxima are split among threads, whose parts must not start from the least finite number.
TEST(CudaDriver, TheLargestOfMinusInfinitiesIsOne) {
  IN_A_PROCESS_WITH_A_DRIVER(Settings{}, [] {
    const IRModule module = parse_module(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 20011), float32]) {
  max(log(multiply(abs(%x), 0f)), axis=[1])
}
)",
                                         "infinities.relay");
    const BuildResult built = build(module, on({"cuda"}));
    EXPECT_GT(kernels_on(built, "cuda"), 0);
    const std::vector<NDArray> outputs = outputs_of(built);
    const auto* values = static_cast<const float*>(outputs.at(0).data());
    for (int i = 0; i < 2; ++i) EXPECT_EQ(values[i], -std::numeric_limits<float>::infinity());
  });
}

TEST(CudaDriver, KernelsHaveTimeByItsClock) {
  IN_A_PROCESS_WITH_A_DRIVER(Settings{}, [] { expect_kernels_timed(); });
}

TEST(CudaDriver, AKernelThatFailsIsAnErrorAndTheProcessorGoesOn) {
  IN_A_PROCESS_WITH_A_DRIVER((Settings{{"FAKE_CUDA_FAIL", "cuLaunchKernel:30:700"}}), [] {
    const BuildResult built = split_program();
    const auto executor = make_executor(built);
    EXPECT_EQ(run_failure(*executor), "");
    std::string seen;
    for (int run = 0; run < 30 && seen.empty(); ++run) seen = run_failure(*executor);
    EXPECT_THAT(seen, testing::AllOf(testing::HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (700)"),
                                     testing::HasSubstr("the device takes no more work of this process")));
    EXPECT_NE(run_failure(*executor), "");
    EXPECT_EQ(outputs_of(build(plain_program(), on({"llvm"}))).size(), 1u);
  });
}

TEST(CudaDriver, AFailureThatIsFoundLaterIsReportedByTheWait) {
  IN_A_PROCESS_WITH_A_DRIVER((Settings{{"FAKE_CUDA_FAIL", "cuStreamSynchronize:6:719"}}), [] {
    const BuildResult built = split_program();
    std::string seen = load_failure(built);
    if (seen.empty()) {
      const auto executor = make_executor(built);
      for (int i = 0; i < 4 && seen.empty(); ++i) seen = run_failure(*executor);
    }
    EXPECT_THAT(seen, testing::HasSubstr("CUDA_ERROR_LAUNCH_FAILED (719)"));
  });
}

TEST(CudaDriver, ExhaustedMemoryIsAnErrorAndWhatFitsGoesOn) {
  IN_A_PROCESS_WITH_A_DRIVER((Settings{{"FAKE_CUDA_MEMORY", "65536"}}), [] {
    const Plugin& plugin = **Plugin::find("cuda");
    const auto device = Device::open(plugin, plugin.device_of_kind(kCudaKind));
    ASSERT_TRUE(device.ok()) << device.status().message;
    const auto block = (*device)->allocate(100000);
    ASSERT_FALSE(block.ok());
    EXPECT_THAT(block.status().message, testing::HasSubstr("`stand-in` has no memory for 100000 bytes"));
    EXPECT_THAT(block.status().message, testing::HasSubstr("0 of its 65536 bytes are in use"));
    EXPECT_THAT(block.status().message, testing::HasSubstr("CUDA_ERROR_OUT_OF_MEMORY (2)"));
    EXPECT_EQ(load_failure(split_program()), "");
    EXPECT_EQ(used_bytes(), 0u);
  });
}

TEST(CudaDriver, CodeForLaterDevicesIsRefused) {
  IN_A_PROCESS_WITH_A_DRIVER((Settings{{"FAKE_CUDA_CAPABILITY", "75"}}), [] {
    EXPECT_THAT(load_failure(split_program("cuda -arch=sm_80")),
                testing::AllOf(testing::HasSubstr("is for sm_80 and later, and `stand-in` is of sm_75"),
                               testing::HasSubstr("build the model for `cuda -arch=sm_75`")));
    EXPECT_EQ(load_failure(split_program("cuda -arch=sm_75")), "");
  });
}

TEST(CudaDriver, CodeThatIsNewerThanTheDriverIsRefused) {
  IN_A_PROCESS_WITH_A_DRIVER((Settings{{"FAKE_CUDA_FAIL", "cuModuleLoadDataEx:1:222"}}), [] {
    EXPECT_THAT(load_failure(split_program("cuda -arch=sm_86")),
                testing::HasSubstr("is PTX 7.1, which is newer than the driver (CUDA 12.4)"));
  });
}

TEST(CudaDriver, CodeThatTheDriverCannotBuildIsAnErrorWithItsLog) {
  IN_A_PROCESS_WITH_A_DRIVER(Settings{}, [] {
    BuildResult built = split_program();
    for (BackendCode& code : std::span(built.code).subspan(1)) {
      const size_t at = code.blob.find("st.global");
      ASSERT_NE(at, std::string::npos);
      code.blob.replace(at, 9, "st.gloval");
      code.blob.replace(code.blob.find("ld.global"), 3, "xx.");
    }
    EXPECT_THAT(load_failure(built),
                testing::AllOf(testing::HasSubstr("cannot build `"), testing::HasSubstr("xx.")));
  });
}

TEST(CudaDriver, DamagedCodeIsRefused) {
  IN_A_PROCESS_WITH_A_DRIVER(Settings{}, [] {
    const BuildResult built = split_program();
    const std::string whole = built.code.at(1).blob;
    const auto failure_of = [&](std::string blob) {
      BuildResult damaged = split_program();
      damaged.code.at(1).blob = std::move(blob);
      return load_failure(damaged);
    };
    EXPECT_THAT(failure_of("ELF" + whole), testing::HasSubstr("its code is no code for CUDA"));
    for (const size_t length : {size_t{11}, size_t{20}, whole.size() / 2, whole.size() - 1})
      EXPECT_THAT(failure_of(whole.substr(0, length)), testing::HasSubstr("plug-in `cuda` cannot load"))
          << length;
    EXPECT_THAT(failure_of(whole + "x"), testing::HasSubstr("damaged"));
    EXPECT_EQ(used_bytes(), 0u);
  });
}

TEST(CudaDriver, ADriverWithoutDevicesSaysSo) {
  IN_A_PROCESS_WITH_A_DRIVER((Settings{{"FAKE_CUDA_DEVICES", "0"}}), [] {
    EXPECT_THAT(load_failure(split_program()),
                testing::HasSubstr("it gives no device: CUDA_ERROR_NO_DEVICE (100)"));
  });
}

TEST(CudaDriver, ADriverThatLacksAFunctionSaysWhich) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        load_stand_in("old", Settings());
        EXPECT_THAT(load_failure(split_program()), testing::HasSubstr("has no cuEventElapsedTime"));
        end_child();
      },
      testing::ExitedWithCode(0), "");
}

/// The same on a real device, where there is one.
class CudaDevicePrograms : public OnCudaDevice {};

TEST_F(CudaDevicePrograms, OnBothComputeWhatTheProcessorDoes) { expect_split_program_right(); }
TEST_F(CudaDevicePrograms, ScatteredOverBothAreRight) { expect_scattered_programs_right(40); }
TEST_F(CudaDevicePrograms, HaveTimesOfKernelsByTheDevicesClock) { expect_kernels_timed(); }

}  // namespace
}  // namespace baton
