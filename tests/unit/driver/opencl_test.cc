// Programs over the processor, the OpenCL device of this machine (PoCL on the processor, where there is no
// other) and `mirror`.
#include "runtime/opencl.h"

#include <filesystem>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "baton/codegen/compile.h"
#include "baton/frontend/workloads/networks.h"
#include "baton/profile/measure/measure.h"
#include "baton/profile/report/report.h"
#include "baton/runtime/model.h"
#include "baton/support/error.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

#include "driver/device_programs.h"
#include "properties/module_value.h"
#include "properties/random_module.h"

namespace baton {
namespace {

constexpr int kProcessor = 1, kExternal = 12;  // DLPack's types of the processor and of mirror

class OpenCl : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = opencl_missing(); !why.empty()) GTEST_SKIP() << why;
    initialize();
  }
};

const char* const kLayers = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) {
  %0 = exp(%x);
  %1 = nn.dense(%0, %w, units=4);
  %2 = nn.relu(%1);
  nn.softmax(%2)
}
)";

/// kLayers with the dense layer and its activation on the device, the rest on the processor.
const char* const kLayersOnBoth = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) {
  %0 = exp(%x);
  %1 = on_device(%0, virtual_device=VirtualDevice(device_type=1, virtual_device_id=0));
  %2 = nn.dense(%1, %w, units=4);
  %3 = nn.relu(%2);
  %4 = on_device(%3, virtual_device=VirtualDevice(device_type=4, virtual_device_id=0));
  nn.softmax(%4)
}
)";

IRModule layers(const char* text) { return parse_module(text, "layers.relay"); }

TEST_F(OpenCl, AProgramMayBeOnItAlone) {
  const BuildResult built = build(layers(kLayers), on({"opencl"}));
  EXPECT_GT(kernels_on(built, "opencl"), 1);
  EXPECT_EQ(kernels_on(built, ""), 0);
  expect_conserved(built);
  EXPECT_LT(properties::difference(outputs_of(build(layers(kLayers), on({"llvm"}))), outputs_of(built)),
            1e-5);
}

TEST_F(OpenCl, AnnotatedProgramsRunOnBoth) {
  const BuildResult built = build(layers(kLayersOnBoth), on({"llvm", "opencl"}));
  EXPECT_GT(kernels_on(built, "opencl"), 0);
  EXPECT_GT(kernels_on(built, ""), 0);
  EXPECT_FALSE(copies_of(built).empty());
  expect_conserved(built);
  EXPECT_LT(properties::difference(outputs_of(build(layers(kLayers), on({"llvm"}))), outputs_of(built)),
            1e-5);
}

TEST_F(OpenCl, AnArtifactCarriesItsCode) {
  const std::string path = testing::TempDir() + "opencl-" + std::to_string(getpid()) + ".baton";
  const BuildResult built = build(layers(kLayersOnBoth), on({"llvm", "opencl"}));
  write_artifact(built, path);
  auto model = Model::load(path);
  ASSERT_TRUE(model.ok()) << model.status().message;
  EXPECT_THAT((*model)->artifact().names(), testing::Contains("plugin/opencl"));
  EXPECT_EQ(properties::difference(outputs_of(built), outputs_of((*model)->executor())), 0);
  std::filesystem::remove(path);
}

TEST_F(OpenCl, TheProfileHasItsKernelsByItsClockAndTheCopies) {
  const BuildResult built = build(layers(kLayersOnBoth), on({"llvm", "opencl"}));
  const auto executor = make_executor(built);
  outputs_of(*executor);
  const auto profile = executor->run_profiled(3);
  ASSERT_TRUE(profile.ok()) << profile.status().message;
  FusedTimes times;
  times.nodes = profile->nodes;
  for (const auto& row : profile->node_ns) times.node_us.push_back({row[0] / 1e3, row[1] / 1e3});
  times.plain_us = times.profiled_us = {profile->total_ns[0] / 1e3};
  const ProfileReport report = make_report(report_source(built), executor->plan(), times);
  int copies = 0, on_device = 0;
  for (const KernelRow& row : report.kernels) {
    EXPECT_GT(row.median_us, 0) << row.func_name;
    EXPECT_FALSE(row.origins.empty() && row.made_for.empty()) << row.func_name;
    copies += row.func_name == "__copy";
    on_device += row.target == "opencl" && row.func_name != "__copy";
  }
  EXPECT_EQ(copies, static_cast<int>(copies_of(built).size()));
  EXPECT_EQ(on_device, kernels_on(built, "opencl"));
}

TEST_F(OpenCl, ResNet8IsRight) {
  workloads::ImageNetOptions image;
  image.image_shape = {3, 28, 28};
  image.num_classes = 10;
  const IRModule module = infer_types(workloads::resnet(8, image));
  BuildOptions one = on({"llvm"}), other = on({"opencl"});
  one.params = other.params = weights_by_rule(module);
  const BuildResult built = build(module, other);
  expect_conserved(built);
  expect_same_side_by_side(built);
  EXPECT_LT(properties::difference(outputs_of(build(module, one)), outputs_of(built)), 1e-4);
}

TEST_F(OpenCl, RandomProgramsScatteredOverThreeDevices) {
  int looked_at = 0;
  for (uint64_t seed = 0; looked_at < 6 && seed < 200; ++seed) {
    const IRModule module = infer_types(parse_module(properties::random_module(seed), "random.relay"));
    if (!is_straight(module)) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const int devices[] = {kProcessor, kOpenClKind, kExternal};
    const IRModule scattered = Scatter::over(module, [&](const Expr&) { return devices[random() % 3]; });
    const BuildResult split = build(scattered, on({"llvm", "opencl", "mirror"}));
    ++looked_at;
    expect_conserved(split);
    expect_same_side_by_side(split);
    EXPECT_LT(properties::difference(outputs_of(build(module, on({"llvm"}))), outputs_of(split)), 1e-4);
  }
  EXPECT_EQ(looked_at, 6);
}

TEST_F(OpenCl, ExhaustedMemoryIsAnErrorAndTheDeviceGoesOn) {
  const Plugin& plugin = **Plugin::find("opencl");
  const auto device = Device::open(plugin, plugin.device_of_kind(kOpenClKind));
  ASSERT_TRUE(device.ok()) << device.status().message;
  const auto block = (*device)->allocate(size_t{1} << 46);
  ASSERT_FALSE(block.ok());
  EXPECT_THAT(block.status().message, testing::HasSubstr("has no memory for 70368744177664 bytes"));
  EXPECT_THAT(block.status().message, testing::HasSubstr("bytes are in use"));
  EXPECT_TRUE((*device)->allocate(1024).ok());
  outputs_of(build(layers(kLayers), on({"opencl"})));
}

/// The message of loading `blob` as the code of a model.
std::string load_error(const std::string& blob) {
  const auto module = PluginModule::load(**Plugin::find("opencl"),
                                         {reinterpret_cast<const uint8_t*>(blob.data()), blob.size()});
  return module.ok() ? "" : module.status().message;
}

TEST_F(OpenCl, AKernelThatTheDriverCannotBuildIsAnErrorWithItsLog) {
  std::string blob = build(layers(kLayers), on({"opencl"})).code.at(1).blob;
  const size_t at = blob.find("__kernel void");
  ASSERT_NE(at, std::string::npos);
  blob.replace(at, 8, "__colonel");
  blob.erase(at + 8, 1);  // the same length
  const std::string error = load_error(blob);
  EXPECT_THAT(error, testing::HasSubstr("cannot build `"));
  EXPECT_THAT(error, testing::HasSubstr("__colone"));
}

TEST_F(OpenCl, DamagedCodeIsRefused) {
  const std::string blob = build(layers(kLayers), on({"opencl"})).code.at(1).blob;
  EXPECT_THAT(load_error("ELF" + blob), testing::HasSubstr("its code is no code for OpenCL"));
  std::string later = blob;
  later[12] = 9;
  EXPECT_THAT(load_error(later), testing::HasSubstr("its code is of version 9"));
  for (const size_t length : {size_t{13}, size_t{20}, blob.size() / 2, blob.size() - 1})
    EXPECT_THAT(load_error(blob.substr(0, length)), testing::HasSubstr("plug-in `opencl` cannot load"))
        << length;
  EXPECT_THAT(load_error(blob + "x"), testing::HasSubstr("damaged"));
}

TEST(OpenClBuild, TypesThatNeedAnExtensionAreRefused) {
  const IRModule module = parse_module(R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float16]) {
  exp(%x)
}
)",
                                       "half.relay");
  try {
    build(module, on({"opencl"}));
    ADD_FAILURE() << "float16 was taken";
  } catch (const NotSupported& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("elements of type float16 need an extension of OpenCL"));
  }
}

TEST(OpenClBuild, TheSameKernelHasTheSameCodeWhateverWasCompiledBefore) {
  const BuildResult built = build(layers(kLayers), on({"opencl"}));
  const BuildContext context = host_context();
  const DeviceSheet& sheet = *context.sheet_of("opencl");
  for (const BuiltKernel& kernel : built.kernels)
    EXPECT_EQ(compile_kernel(kernel.request, sheet).object, compile_kernel(kernel.request, sheet).object)
        << kernel.func_name;
}

}  // namespace
}  // namespace baton
