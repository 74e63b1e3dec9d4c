// The backend `cuda` without a device: PTX of whole networks, the architectures of targets, and what is said
// where something is missing. Its runtime half runs on a stand-in for a driver (runtime/fake_cuda) in
// cuda_driver_test.
#include "runtime/cuda.h"

#include <filesystem>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baton/codegen/compile.h"
#include "baton/frontend/workloads/networks.h"
#include "baton/runtime/gpu/device_code.h"
#include "baton/runtime/model.h"
#include "baton/support/error.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

#include "driver/device_programs.h"
#include "properties/module_value.h"

namespace baton {
namespace {

const char* const kCudaLayers = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) {
  %0 = exp(%x);
  %1 = nn.dense(%0, %w, units=4);
  %2 = nn.relu(%1);
  nn.softmax(%2)
}
)";

IRModule cuda_layers() { return parse_module(kCudaLayers, "layers.relay"); }

const std::string& cuda_blob(const BuildResult& built) {
  for (const BackendCode& code : built.device_code())
    if (code.backend == "cuda") return code.blob;
  throw Error("there is no code for cuda");
}

/// The kernels of a blob by name.
std::map<std::string, DeviceCode> kernels_in(const std::string& bytes, const DeviceCodeFormat& format) {
  DeviceBlob blob;
  EXPECT_EQ(unpack(bytes, format, blob), "");
  std::map<std::string, DeviceCode> kernels;
  for (const auto& [name, unit] : blob.unit_of) EXPECT_TRUE(unpack(blob.units[unit], kernels[name]));
  return kernels;
}

void expect_assembles(const BuildResult& built, const std::vector<std::string>& archs) {
  DeviceBlob blob;
  ASSERT_EQ(unpack(cuda_blob(built), kCudaCode, blob), "");
  ASSERT_GT(blob.units.size(), 0u);
  for (uint32_t i = 0; i < blob.units.size(); ++i) {
    DeviceCode code;
    ASSERT_TRUE(unpack(blob.units[i], code));
    EXPECT_EQ(code.source.find(".extern"), std::string::npos) << names_of(blob, i);
    for (const std::string& arch : archs)
      EXPECT_EQ(assembly_error(code.source, arch), "") << names_of(blob, i) << " for " << arch;
  }
}

BuildResult build_network(const IRModule& network, const std::string& target) {
  const IRModule module = infer_types(network);
  BuildOptions options = on({target});
  options.params = weights_by_rule(module);
  return build(module, options);
}

workloads::ImageNetOptions small_image() {
  workloads::ImageNetOptions image;
  image.image_shape = {3, 32, 32};
  image.num_classes = 10;
  return image;
}

class CudaNetworks : public testing::Test {
 protected:
  void SetUp() override {
    if (ptxas().empty()) GTEST_SKIP() << "no ptxas (pip install nvidia-cuda-nvcc-cu12)";
    initialize();
  }
};

TEST_F(CudaNetworks, SlowResNet18Assembles) {
  const BuildResult built = build_network(workloads::resnet(18, small_image()), "cuda -arch=sm_80");
  expect_conserved(built);
  EXPECT_EQ(kernels_on(built, ""), 0);
  expect_assembles(built, {"sm_80", "sm_90"});
}

TEST_F(CudaNetworks, Vgg11Assembles) {
  const BuildResult built = build_network(workloads::vgg(11, false, small_image()), "cuda -arch=sm_90");
  expect_conserved(built);
  expect_assembles(built, {"sm_90"});
}

TEST_F(CudaNetworks, MobileNetAssemblesForEveryDeviceThatDriversKnow) {
  workloads::MobileNetOptions options;
  options.image_shape = {3, 64, 64};
  const BuildResult built = build_network(workloads::mobilenet(options), "cuda");
  expect_conserved(built);
  expect_assembles(built, {"sm_75", "sm_90"});  // assemblers since CUDA 13 make no code for older ones
}

/// Where nothing asks for more threads than there are elements.
TEST(CudaBuild, LaunchesAreThoseOfOpenCl) {
  const IRModule network = workloads::resnet(18, small_image());
  BuildOptions options = on({"cuda"});
  options.params = weights_by_rule(infer_types(network));
  for (DeviceSheet& sheet : options.context.sheets)
    if (sheet.kind == "cuda") sheet.cores = 0;
  const auto cuda = kernels_in(cuda_blob(build(infer_types(network), options)), kCudaCode);
  const auto opencl = kernels_in(build_network(network, "opencl").code.at(1).blob, kOpenClCode);
  ASSERT_EQ(cuda.size(), opencl.size());
  for (const auto& [name, other] : opencl) {
    ASSERT_TRUE(cuda.contains(name)) << name;
    DeviceCode mine = cuda.at(name), theirs = other;
    EXPECT_EQ(mine.tensors, theirs.tensors) << name;
    EXPECT_EQ(mine.scratch, theirs.scratch) << name;
    EXPECT_EQ(mine.constants, theirs.constants) << name;
    for (DeviceCode* each : {&mine, &theirs})
      for (DeviceLaunch& launch : each->launches) launch.function.clear();  // named by another counter
    EXPECT_EQ(mine.launches, theirs.launches) << name;
  }
}

/// The threads of each launch of a program of one kernel.
std::vector<int64_t> threads_of(const std::string& text) {
  const BuildResult built = build(parse_module("#[version = \"0.0.5\"]\n" + text, "one.relay"), on({"cuda"}));
  const auto kernels = kernels_in(cuda_blob(built), kCudaCode);
  EXPECT_EQ(kernels.size(), 1u);
  std::vector<int64_t> threads;
  for (const DeviceLaunch& launch : kernels.begin()->second.launches)
    threads.push_back(int64_t{launch.blocks[0]} * launch.threads[0]);
  return threads;
}

TEST(CudaBuild, SumsOfFewElementsAreSharedByThreads) {
  // Parts of the largest, exp, parts of the sum, the quotients: those that need them join the parts.
  EXPECT_THAT(threads_of("def @main(%x: Tensor[(1, 1000), float32]) { nn.softmax(%x) }"),
              testing::ElementsAre(64, 1024, 64, 1024));
  EXPECT_THAT(threads_of("def @main(%x: Tensor[(1, 2048), float32], %w: Tensor[(1000, 2048), float32]) { "
                         "nn.dense(%x, %w, units=1000) }"),
              testing::Contains(testing::Ge(30000)));
  // Enough elements, or too few terms.
  EXPECT_THAT(threads_of("def @main(%x: Tensor[(500000, 40), float32]) { sum(%x, axis=[1]) }"),
              testing::ElementsAre(500032));
  EXPECT_THAT(threads_of("def @main(%x: Tensor[(100, 9), float32]) { sum(%x, axis=[1]) }"),
              testing::ElementsAre(128));
}

TEST(CudaBuild, DeepConvolutionsOfFewPixelsAreSharedByThreads) {
  const auto threads = threads_of(
      "def @main(%x: Tensor[(1, 128, 7, 7, 16), float32], %w: Tensor[(2, 128, 1, 1, 16, 16), float32]) { "
      "nn.contrib_conv2d_NCHWc(%x, %w, channels=32, kernel_size=[1, 1], data_layout=\"NCHW16c\", "
      "kernel_layout=\"OIHW16i16o\", out_layout=\"NCHW16c\") }");
  ASSERT_EQ(threads.size(), 2u);
  EXPECT_GE(threads[0], 10000);
  EXPECT_EQ(threads[1], 1600);  // 1568 results in blocks of 64
}

TEST(CudaBuild, WhatIsOnlyReadHasNoLaunchOfItsOwn) {
  // A weight in the order of its terms; padding; a pool's copy of its result.
  EXPECT_EQ(threads_of("def @main(%x: Tensor[(1, 300), float32], %w: Tensor[(40, 300), float32]) { "
                       "nn.dense(%x, %w, units=40) }")
                .size(),
            2u);
  EXPECT_EQ(threads_of("def @main(%x: Tensor[(1, 4, 56, 56, 16), float32], %w: Tensor[(4, 4, 3, 3, 16, 16), "
                       "float32]) { nn.relu(nn.contrib_conv2d_NCHWc(%x, %w, channels=64, kernel_size=[3, 3], "
                       "padding=[1, 1, 1, 1], data_layout=\"NCHW16c\", kernel_layout=\"OIHW16i16o\", "
                       "out_layout=\"NCHW16c\")) }")
                .size(),
            2u);
  EXPECT_EQ(threads_of("def @main(%x: Tensor[(1, 4, 28, 28), float32]) { nn.relu(nn.max_pool2d(%x, "
                       "pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1])) }"),
            std::vector<int64_t>{832});  // 784 results in blocks of 64
}

/// The directive ".target" of the code for a target.
std::string target_in(const std::string& target) {
  const std::string source = find_backend("cuda")->source(cuda_blob(build(cuda_layers(), on({target}))));
  const size_t at = source.find(".target ");
  return source.substr(at + 8, source.find_first_of(", \n", at + 8) - at - 8);
}

TEST(CudaBuild, TheArchitectureIsTheLatestOfHalideThatTheTargetHas) {
  EXPECT_EQ(target_in("cuda"), "sm_50");
  EXPECT_EQ(target_in("cuda -arch=sm_75"), "sm_75");
  EXPECT_EQ(target_in("cuda -arch=sm_72"), "sm_70");
  EXPECT_EQ(target_in("cuda -arch=sm_90 -libs=cublas,cudnn"), "sm_86");
  EXPECT_EQ(target_in("cuda -arch=sm_90a"), "sm_86");
}

std::string build_failure(const std::string& target) {
  try {
    build(cuda_layers(), on({target}));
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(CudaBuild, WhatIsNoArchitectureIsRefused) {
  EXPECT_THAT(build_failure("cuda -arch=ampere"), testing::HasSubstr("-arch=ampere is no architecture"));
  EXPECT_THAT(build_failure("cuda -arch=80"), testing::HasSubstr("-arch=80 is no architecture"));
  EXPECT_THAT(build_failure("cuda -arch=sm_"), testing::HasSubstr("-arch=sm_ is no architecture"));
  EXPECT_THAT(build_failure("cuda -arch=sm_13"), testing::HasSubstr("older than sm_30"));
}

TEST(CudaBuild, TheSameKernelHasTheSameCodeWhateverWasCompiledBefore) {
  const BuildResult built = build(cuda_layers(), on({"cuda"}));
  const BuildContext context = host_context();
  for (const BuiltKernel& kernel : built.kernels)
    EXPECT_EQ(compile_kernel(kernel.request, *context.sheet_of("cuda")).object,
              compile_kernel(kernel.request, *context.sheet_of("cuda")).object)
        << kernel.func_name;
}

/// Two convolutions of one shape, the first on the device if there is to be one.
BuildResult two_convolutions(bool split, const std::vector<std::string>& targets) {
  const std::string device = split ? "2" : "1";
  const IRModule module = parse_module(R"(#[version = "0.0.5"]
def @main(%data: Tensor[(1, 64, 56, 56), float32], %w: Tensor[(64, 64, 3, 3), float32], %v: Tensor[(64, 64, 3, 3), float32]) {
  %0 = nn.conv2d(%data, %w, padding=[1, 1, 1, 1], channels=64, kernel_size=[3, 3]);
  %1 = on_device(%0, virtual_device=VirtualDevice(device_type=)" +
                                           device +
                                           R"(, virtual_device_id=0));
  %2 = nn.conv2d(%1, %v, padding=[1, 1, 1, 1], channels=64, kernel_size=[3, 3]);
  on_device(%2, virtual_device=VirtualDevice(device_type=1, virtual_device_id=0))
}
)",
                                       "two.relay");
  BuildOptions options = on(targets);
  options.params = weights_by_rule(infer_types(module));
  return build(module, options);
}

/// Operators of kernels that compute convolutions on a backend ("": the processor).
std::vector<std::string> convolutions_on(const BuildResult& built, const std::string& backend) {
  std::vector<std::string> names;
  for (const PlanNode& node : built.plan.graph->nodes)
    if (node.kind == PlanNode::Kind::kKernel && node.backend == backend &&
        node.func_name.find("conv2d") != std::string::npos) {
      const size_t at = node.func_name.find("nn_");
      std::string name = node.func_name.substr(at);
      while (std::isdigit(static_cast<unsigned char>(name.back())) || name.back() == '_') name.pop_back();
      if (name.find("weight_transform") == std::string::npos || name.find("without") != std::string::npos)
        names.push_back(name);
    }
  return names;
}

TEST(CudaBuild, EachDeviceComputesInTheLayoutsOfItsOwnChoice) {
  const BuildResult plain = two_convolutions(false, {"llvm"});
  const BuildResult split = two_convolutions(true, {"llvm", "cuda"});
  expect_conserved(split);
  const std::vector<std::string> alone = convolutions_on(plain, ""), here = convolutions_on(split, ""),
                                 there = convolutions_on(split, "cuda");
  ASSERT_EQ(alone.size(), 2u);
  ASSERT_EQ(here.size(), 1u);
  ASSERT_EQ(there.size(), 1u);
  EXPECT_EQ(here[0], alone[1]);
  EXPECT_EQ(there[0].find("winograd"), std::string::npos) << there[0];
}

TEST(CudaBuild, HalvesAreRefused) {
  const IRModule module = parse_module(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float16]) {
  exp(%x)
}
)",
                                       "half.relay");
  EXPECT_THROW(build(module, on({"cuda"})), NotSupported);
}

/// What a real device computes, where there is one.
TEST(CudaDevice, ResNet18IsRight) {
  if (const std::string why = cuda_missing(); !why.empty()) GTEST_SKIP() << why;
  const IRModule network = workloads::resnet(18, small_image());
  const BuildResult built = build_network(network, "cuda");
  EXPECT_LT(properties::difference(outputs_of(build_network(network, "llvm")), outputs_of(built)), 1e-4);
}

TEST(CudaMissing, LoadingSaysThatThereIsNoDriverAndTheProcessorGoesOn) {
  if (cuda_missing().empty()) GTEST_SKIP() << "there is a driver";
  const std::string path = (std::filesystem::temp_directory_path() / "baton-cuda-missing.baton").string();
  const BuildResult built = build(cuda_layers(), on({"cuda"}));
  write_artifact(built, path);
  const auto model = Model::load(path);
  std::filesystem::remove(path);
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.status().message, testing::HasSubstr("plug-in `cuda`"));
  EXPECT_THAT(model.status().message, testing::HasSubstr("driver"));
  EXPECT_THROW(make_executor(built), Error);
  EXPECT_EQ(outputs_of(build(cuda_layers(), on({"llvm"}))).size(), 1u);
}

}  // namespace
}  // namespace baton
