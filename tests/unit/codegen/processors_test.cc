// Kernels for x86 processors by their features: every template compiles for each, uses its vectors and no
// wider ones, and computes the same wherever this processor can run it.
#include <cmath>
#include <memory>
#include <set>
#include <sstream>
#include <string>

#include <gmock/gmock.h>

#include "baton/codegen/backend.h"
#include "baton/codegen/compile.h"
#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/schedule/kernel_choice.h"
#include "baton/schedule/template.h"
#include "baton/support/base/processor_features.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

#include "codegen/kernels.h"

namespace baton {
namespace {

struct ProcessorKind {
  const char* name;
  const char* features;  ///< added to "x86-64-linux"
  int lanes, registers;
  const char* vectors;  ///< the registers of its widest vectors
};

constexpr const char* kWidths[] = {"xmm", "ymm", "zmm"};

constexpr ProcessorKind
    kSse2 = {"Sse2", "", 4, 16, "xmm"},
    kSse41 = {"Sse41", "-sse41", 4, 16, "xmm"}, kAvx = {"Avx", "-sse41-avx", 8, 16, "ymm"},
    kAvx2 = {"Avx2", "-sse41-avx-f16c-fma-avx2", 8, 16, "ymm"},
    kAvx512 = {"Avx512", "-sse41-avx-f16c-fma-avx2-avx512-avx512_skylake", 16, 32, "zmm"},
    kVnni = {"Avx512Vnni", "-sse41-avx-f16c-fma-avx2-avx512-avx512_skylake-avx512_cannonlake-avx512_zen4", 16,
             32, "zmm"},
    kIntel = {"Avx512Intel",
              "-sse41-avx-f16c-fma-avx2-avx512-avx512_skylake-avx512_cannonlake-"
              "avx512_sapphirerapids",
              16, 32, "zmm"};

DeviceSheet sheet_of(const ProcessorKind& kind) {
  DeviceSheet sheet = DeviceSheet::host();
  sheet.code_target = std::string(processor_machine()) + kind.features;
  sheet.float_lanes = kind.lanes;
  sheet.vector_registers = kind.registers;
  return sheet;
}

/// A kernel of each template. A convolution in blocks of channels needs another one beside it.
constexpr const char* kEveryTemplate = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 32, 36, 36), float32], %m: Tensor[(12, 48), float32],
          %w0: Tensor[(32, 32, 1, 1), float32], %w1: Tensor[(32, 32, 3, 3), float32],
          %w2: Tensor[(32, 1, 3, 3), float32], %w3: Tensor[(17, 1, 3, 3), float32],
          %w4: Tensor[(3, 17, 3, 3), float32], %w5: Tensor[(16, 32, 4, 4), float32],
          %w6: Tensor[(64, 48), float32], %w7: Tensor[(32, 48), float32]) {
  %0 = nn.conv2d(%x, %w0, padding=[0, 0, 0, 0], channels=32, kernel_size=[1, 1]);
  %1 = nn.conv2d(%0, %w1, padding=[1, 1, 1, 1], channels=32, kernel_size=[3, 3]);
  %2 = nn.conv2d(%x, %w2, padding=[1, 1, 1, 1], groups=32, channels=32, kernel_size=[3, 3]);
  %3 = strided_slice(%x, begin=[0, 0, 0, 0], end=[1, 17, 36, 36], strides=[1, 1, 1, 1], axes=None);
  %4 = nn.conv2d(%3, %w3, padding=[1, 1, 1, 1], groups=17, channels=17, kernel_size=[3, 3]);
  %5 = nn.conv2d(%3, %w4, padding=[1, 1, 1, 1], channels=3, kernel_size=[3, 3]);
  %6 = nn.conv2d_transpose(%x, %w5, channels=16, kernel_size=[4, 4], strides=[2, 2], padding=[1, 1, 1, 1]);
  %7 = nn.dense(%m, %w6, units=64);
  %8 = reshape(%m, newshape=[1, 12, 48]);
  %9 = nn.batch_matmul(%8, %8, transpose_b=True);
  %10 = nn.max_pool2d(%x, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1]);
  %11 = split(nn.dense(%m, %w7, units=32), indices_or_sections=2, axis=1);
  (%1, %2, %4, %5, %6, %7, %9, %10, mean(%x, axis=[2, 3]), nn.softmax(%7), tanh(%m), cumsum(%m, axis=1),
   multiply(tanh(%11.0), %11.1))
})";
constexpr size_t kOutputs = 13;

/// The default, but some convolution is one of Winograd's.
class SomeWinograd final : public KernelChoice {
 public:
  ConvChoice conv2d(const ConvShape& shape, const DeviceSheet& sheet) const override {
    ConvChoice choice = KernelChoice::conv2d(shape, sheet);
    const bool fits = shape.kernel_height == 3 && shape.groups == 1 && shape.in_channels == 32;
    if (fits) choice.algorithm = {ConvAlgorithm::Kind::kWinograd, 4, "for this test"};
    return choice;
  }
};

class Processors : public testing::TestWithParam<ProcessorKind> {
 protected:
  void SetUp() override { initialize(); }

  /// One cache for all processors: none takes another's kernels.
  BuildResult built_for(const DeviceSheet& sheet) {
    BuildOptions options{.context = host_context().at_level(3)};
    options.context.sheets = {sheet};
    options.context.cache = &cache_;
    options.context.choice = std::make_shared<SomeWinograd>();
    const IRModule module = infer_types(parse_module(kEveryTemplate, "every_template.relay"));
    for (const Var& param : module->functions().at("main")->params())
      if (param->name().starts_with("w"))
        options.params.emplace_back(
            param->name(),
            tensor_value(param->name(), as_type<TensorTypeNode>(param->checked_type())->extents(),
                         DType::float_(32)));
    return build(module, options);
  }

  static std::vector<NDArray> outputs(const BuildResult& result) {
    const auto executor = make_executor(result);
    EXPECT_TRUE(executor->set_input(0, tensor_value("x", {1, 32, 36, 36}, DType::float_(32))).ok());
    EXPECT_TRUE(executor->set_input(1, tensor_value("m", {12, 48}, DType::float_(32))).ok());
    EXPECT_TRUE(executor->run().ok());
    std::vector<NDArray> all;
    for (size_t i = 0; i < kOutputs; ++i) all.push_back(executor->output(i).copy());
    return all;
  }

  const test::Folder folder_;
  KernelCache cache_{folder_.path()};
};

double largest(const NDArray& array) {
  double most = 0;
  for (int64_t i = 0; i < array.size(); ++i)
    most = std::max<double>(most, std::fabs(array.as<float>()[static_cast<size_t>(i)]));
  return most;
}

TEST_P(Processors, EveryTemplateCompilesAndComputesTheSame) {
  if (processor_machine() != "x86-64-linux") GTEST_SKIP() << "these are processors of x86-64";
  const ProcessorKind& kind = GetParam();
  const DeviceSheet sheet = sheet_of(kind);
  const BuildResult result = built_for(sheet);
  EXPECT_EQ(result.host_code().target, sheet.code_target);

  std::set<std::string> expected, seen;
  for (const ScheduleTemplate* each : schedule_templates()) expected.insert(each->name);
  for (const BuiltKernel& built : result.kernels) {
    const std::string name = built.kernel->template_name;
    if (built.func_name.find("layout_transform") != std::string::npos) continue;  // short copies
    if (!seen.insert(name).second) continue;
    SCOPED_TRACE(name + ": " + built.func_name);
    const std::string code = kernel_listing(built.request, sheet).assembly;
    if (name != "trivial") {
      EXPECT_TRUE(code.find(kind.vectors) != std::string::npos) << "no vectors of " << kind.vectors;
    }
    bool wider = false;
    for (const char* width : kWidths) {
      if (wider) {
        EXPECT_TRUE(code.find(width) == std::string::npos) << "vectors of " << width;
      }
      wider = wider || std::string(width) == kind.vectors;
    }
  }
  EXPECT_EQ(seen, expected);

  if (const auto missing = missing_features(sheet.code_target); !missing.empty()) {
    RecordProperty("compiled_only_for_want_of", missing.front());
    return;
  }
  const std::vector<NDArray> got = outputs(result), want = outputs(built_for(DeviceSheet::host()));
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_LE(test::largest_difference(got[i], want[i]), 2e-5 * largest(want[i])) << "output " << i;
}

int lines_with(const std::string& assembly, const std::string& start, const std::string& also) {
  std::istringstream lines(assembly);
  int count = 0;
  for (std::string line; std::getline(lines, line);) {
    const size_t at = line.find(start);
    count += at != std::string::npos && line.find(also, at) != std::string::npos;
  }
  return count;
}

// LLVM's limits on large functions left the sums of the second loop (over 9 of 19 channels) in memory.
TEST(LargeKernels, KeepSumsInRegisters) {
  if (processor_machine() != "x86-64-linux") GTEST_SKIP() << "this is the code of x86-64";
  initialize();
  const IRModule module = infer_types(
      parse_module("#[version = \"0.0.5\"]\n"
                   "def @main(%x: Tensor[(8, 19, 48, 48), float32], %w: Tensor[(28, 19, 7, 7), float32]) {\n"
                   "  nn.conv2d(%x, %w, padding=[3, 3, 3, 3], channels=28, kernel_size=[7, 7])\n}",
                   "seven.relay"));
  const std::string code = kernel_listing({module->find("main"), {}, {}, {}}, sheet_of(kAvx512)).assembly;
  const int products = lines_with(code, "vfmadd", "zmm"),
            stores = lines_with(code, "vmov", "%zmm") - lines_with(code, "vmov", "), %zmm");
  EXPECT_GT(products, 100);
  EXPECT_LT(stores, products / 4);
}

// Without the function that libbaton puts before Halide's (codegen/kernel/contraction.cc) there is no FMA.
TEST(Contraction, IsOneInstructionByDefaultAndNoneInStrictPrecision) {
  if (processor_machine() != "x86-64-linux") GTEST_SKIP() << "this is the code of x86-64";
  initialize();
  const IRModule module = infer_types(parse_module(
      "#[version = \"0.0.5\"]\n"
      "def @main(%x: Tensor[(64), float32], %y: Tensor[(64), float32]) { add(multiply(%x, %y), %y) }\n",
      "fma.relay"));
  const auto code = [&](bool strict) {
    KernelRequest request{module->find("main"), {}, {}, {}};
    request.strict = strict;
    return kernel_listing(request, sheet_of(kAvx512)).assembly;
  };
  EXPECT_NE(code(false).find("vfmadd"), std::string::npos);
  EXPECT_EQ(code(true).find("vfmadd"), std::string::npos);
  EXPECT_NE(code(true).find("vmulps"), std::string::npos);
}

// LLVM's code for Zen 4, which other processors with the same AVX-512 ended at: SIGILL.
TEST(ProcessorsOfIntel, GetNoInstructionOfAmd) {
  if (processor_machine() != "x86-64-linux") GTEST_SKIP() << "this is the code of x86-64";
  initialize();
  const IRModule module = infer_types(parse_module(
      "#[version = \"0.0.5\"]\n"
      "def @main(%x: Tensor[(2, 3), uint8], %y: Tensor[(2, 4), uint8]) { concatenate((%x, %y), axis=1) }\n",
      "bytes.relay"));
  const auto code = [&](const ProcessorKind& kind) {
    KernelRequest request{module->find("main"), {}, {}, {}};
    request.template_name = "trivial";
    return kernel_listing(request, sheet_of(kind)).assembly;
  };
  EXPECT_NE(code(kVnni).find("insertq"), std::string::npos) << "the test is of no use any more";
  EXPECT_EQ(code(kIntel).find("insertq"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Ends, Processors, testing::Values(kSse2, kAvx512),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(SlowAll, Processors, testing::Values(kSse41, kAvx, kAvx2, kVnni, kIntel),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace baton
