// Precision "bf16": constant weights of layers that are bound by reading them are stored as bfloat16;
// products and sums are float32.
#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>

#include <gmock/gmock.h>

#include "baton/codegen/backend.h"
#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/pass/origin_verifier.h"
#include "baton/runtime/model.h"
#include "baton/schedule/kernel_choice.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

#include "codegen/kernels.h"

namespace baton {
namespace {

constexpr DType kFloat = DType::float_(32);

/// A dense layer, its epilogue, and the shape of its weight.
struct Layer {
  int64_t rows, depth, units;
};

/// Every weight, so that all templates have some.
struct Everywhere final : KernelChoice {
  bool narrows_weight(const WeightUse&, const DeviceSheet&) const override { return true; }
};

class Bfloat16 : public testing::Test {
 protected:
  void SetUp() override { initialize(); }

  static std::string text_of(const Layer& l) {
    const auto tensor = [](int64_t a, int64_t b) {
      return "Tensor[(" + std::to_string(a) + ", " + std::to_string(b) + "), float32]";
    };
    return "#[version = \"0.0.5\"]\ndef @main(%x: " + tensor(l.rows, l.depth) +
           ", %w: " + tensor(l.units, l.depth) + ", %b: Tensor[(" + std::to_string(l.units) +
           "), float32]) {\n  add(nn.dense(%x, %w, units=" + std::to_string(l.units) + "), %b)\n}";
  }

  BuildResult built(const std::string& text, const NamedArrays& params, const char* precision = "bf16",
                    std::shared_ptr<const KernelChoice> choice = std::make_shared<const Everywhere>(),
                    int level = 3) {
    auto passes = std::make_shared<PassContext>();
    passes->opt_level = level;
    passes->instruments = {std::make_shared<OriginVerifier>()};
    passes->config.set("baton.precision", AttrValue(std::string(precision)));
    BuildOptions options{.context = host_context().with_passes(passes)};
    options.context.cache = &cache_;
    options.context.choice = std::move(choice);
    options.params = params;
    return build(infer_types(parse_module(text, "net.relay")), options);
  }

  static NamedArrays params_of(const Layer& l) {
    return {{"w", tensor_value("w", {l.units, l.depth}, kFloat)},
            {"b", tensor_value("b", {l.units}, kFloat)}};
  }

  static NDArray output(Executor& executor, const NDArray& x) {
    EXPECT_TRUE(executor.set_input(0, x).ok());
    EXPECT_TRUE(executor.run().ok());
    return executor.output(0).copy();
  }

  static int small_weights(const BuildResult& result) {
    int count = 0;
    for (const auto& [name, array] : result.params()) count += array.dtype().is_bfloat();
    return count;
  }

  const test::Folder folder_;
  KernelCache cache_{folder_.path() + "/cache"};
};

/// To nearest even, by another way than the pass: in units of the last place.
float as_bfloat(float value) {
  int exponent = 0;
  std::frexp(value, &exponent);
  return value == 0 ? value : std::ldexp(std::nearbyint(std::ldexp(value, 8 - exponent)), exponent - 8);
}

double largest(const NDArray& array) {
  double most = 0;
  for (const float value : array.as<float>()) most = std::max<double>(most, std::fabs(value));
  return most;
}

TEST_F(Bfloat16, ThinLayersComputeInFloat32WithRoundedWeights) {
  for (const Layer& l : std::vector<Layer>{{1, 512, 300},
                                           {1, 4096, 33},
                                           {3, 2050, 7},
                                           {5, 77, 389},
                                           {16, 300, 101},
                                           {2, 64, 64},
                                           {1, 5000, 1},
                                           {7, 4099, 3},
                                           {1, 1, 4096}}) {
    SCOPED_TRACE(std::to_string(l.rows) + "x" + std::to_string(l.depth) + " -> " + std::to_string(l.units));
    const NamedArrays params = params_of(l);
    const BuildResult result = built(text_of(l), params);
    EXPECT_EQ(small_weights(result), 1);
    EXPECT_EQ(result.kernels.size(), 1u);
    EXPECT_NE(result.kernels.back().kernel->template_name, "trivial");
    const NDArray x = tensor_value("x", {l.rows, l.depth}, kFloat);
    const NDArray got = output(*make_executor(result), x);
    const auto exact = output(*make_executor(built(text_of(l), params, "f32")), x);
    const auto xs = x.as<float>(), ws = params[0].second.as<float>(), bs = params[1].second.as<float>();
    for (int64_t m = 0; m < l.rows; ++m)
      for (int64_t n = 0; n < l.units; ++n) {
        double sum = bs[n], size = std::fabs(bs[n]);
        for (int64_t k = 0; k < l.depth; ++k) {
          const double product = double(xs[m * l.depth + k]) * as_bfloat(ws[n * l.depth + k]);
          sum += product, size += std::fabs(product);
        }
        const double value = got.as<float>()[m * l.units + n];
        ASSERT_NEAR(value, sum, 1e-6 * size) << m << ", " << n;
        // Half a unit of the eighth binary digit of each weight, as docs/guide.md says.
        ASSERT_NEAR(value, exact.as<float>()[m * l.units + n], size / 255) << m << ", " << n;
      }
  }
}

TEST_F(Bfloat16, OnlyWhereItPays) {
  const auto by_default = [&](const Layer& l, const char* precision = "bf16") {
    return small_weights(built(text_of(l), params_of(l), precision, nullptr));
  };
  EXPECT_EQ(by_default({1, 512, 300}), 1);
  EXPECT_EQ(by_default({2, 512, 300}), 0) << "in the cache, two rows compute longer than they read";
  EXPECT_EQ(by_default({1, 16, 16}), 0) << "too small to matter";
  EXPECT_EQ(by_default({1, 512, 300}, "f32"), 0);
  EXPECT_EQ(by_default({1, 512, 300}, "strict"), 0);
  const Layer thin{1, 512, 300};
  EXPECT_EQ(small_weights(built(text_of(thin), {{"b", params_of(thin)[1].second}})), 0) << "no constant";
  const KernelChoice choice;
  DeviceSheet sheet;
  sheet.l3_bytes = 1 << 20;
  EXPECT_TRUE(choice.narrows_weight({1 << 20, 16, 4 << 20}, sheet)) << "from memory";
  EXPECT_FALSE(choice.narrows_weight({1 << 20, 64, 4 << 20}, sheet));
}

TEST_F(Bfloat16, WeightsThatAreNotPacked) {
  const Layer l{8, 300, 40};
  const BuildResult result = built(text_of(l), params_of(l), "bf16", std::make_shared<const Everywhere>(), 0);
  EXPECT_EQ(small_weights(result), 1);
  std::vector<std::string> templates;
  for (const BuiltKernel& kernel : result.kernels) templates.push_back(kernel.kernel->template_name);
  EXPECT_THAT(templates, testing::Not(testing::Contains("trivial")));
  const NDArray x = tensor_value("x", {8, 300}, kFloat);
  const NDArray want = output(*make_executor(built(text_of(l), params_of(l), "f32")), x);
  EXPECT_LE(test::largest_difference(output(*make_executor(result), x), want), 0.02 * largest(want));
}

constexpr const char* kTwoLayers = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 256, 1, 1), float32], %w: Tensor[(96, 256, 1, 1), float32], %v: Tensor[(96, 96), float32]) {
  %0 = nn.relu(nn.conv2d(%x, %w, padding=[0, 0, 0, 0], channels=96, kernel_size=[1, 1]));
  %1 = nn.dense(nn.batch_flatten(%0), %v, units=96);
  nn.dense(tanh(%1), %v, units=96)
})";

TEST_F(Bfloat16, ConvolutionsOfFewPixelsAndSharedWeights) {
  const NamedArrays params = {{"w", tensor_value("w", {96, 256, 1, 1}, kFloat)},
                              {"v", tensor_value("v", {96, 96}, kFloat)}};
  const BuildResult result = built(kTwoLayers, params);
  EXPECT_EQ(small_weights(result), 2) << "both dense layers have one weight";
  std::vector<std::string> templates;
  for (const BuiltKernel& kernel : result.kernels) templates.push_back(kernel.kernel->template_name);
  EXPECT_THAT(templates, testing::Contains("conv_direct"));
  EXPECT_THAT(templates, testing::Not(testing::Contains("trivial")));
  const NDArray x = tensor_value("x", {1, 256, 1, 1}, kFloat);
  const NDArray want = output(*make_executor(built(kTwoLayers, params, "f32")), x);
  EXPECT_LE(test::largest_difference(output(*make_executor(result), x), want), 0.02 * largest(want));
}

TEST_F(Bfloat16, EmptyData) {
  const Layer l{0, 128, 64};
  const BuildResult result = built(text_of(l), params_of(l));
  const NDArray out = output(*make_executor(result), NDArray::empty({0, 128}, kFloat));
  EXPECT_EQ(out.shape(), (Shape{0, 64}));
}

TEST_F(Bfloat16, WeightsThatAreNoNumbers) {
  const Layer l{1, 64, 64};
  NamedArrays params = params_of(l);
  auto weights = params[0].second.as<float>();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (int64_t k = 0; k < 4 * l.depth; ++k) weights[static_cast<size_t>(k)] = 0;
  weights[0] = std::bit_cast<float>(0x7F800001u);  // a NaN whose upper half alone is infinity
  weights[64] = -kInfinity;
  weights[128] = std::numeric_limits<float>::max();  // rounds to infinity
  weights[192] = 1e-40f;
  params[1].second = NDArray::empty({64}, kFloat);
  for (float& value : params[1].second.as<float>()) value = 0;
  NDArray x = NDArray::empty({1, 64}, kFloat);
  for (float& value : x.as<float>()) value = 1;
  const NDArray out = output(*make_executor(built(text_of(l), params)), x);
  const auto got = out.as<float>();
  EXPECT_TRUE(std::isnan(got[0]));
  EXPECT_EQ(got[1], -kInfinity);
  EXPECT_EQ(got[2], kInfinity);
  EXPECT_NEAR(got[3], 1e-40f, 1e-41f);
}

TEST_F(Bfloat16, ArtifactsHoldTheSmallWeights) {
  const Layer l{1, 1024, 512};
  const NDArray x = tensor_value("x", {1, 1024}, kFloat);
  const auto path = [&](const char* precision) { return folder_.path() + "/" + precision + ".baton"; };
  const BuildResult result = built(text_of(l), params_of(l));
  write_artifact(result, path("bf16"));
  write_artifact(built(text_of(l), params_of(l), "f32"), path("f32"));
  EXPECT_LT(std::filesystem::file_size(path("bf16")) + 1'000'000, std::filesystem::file_size(path("f32")));
  const auto model = Model::load(path("bf16"));
  ASSERT_TRUE(model.ok()) << model.status().message;
  EXPECT_TRUE(output((*model)->executor(), x).equal_bytes(output(*make_executor(result), x)));
}

}  // namespace
}  // namespace baton
