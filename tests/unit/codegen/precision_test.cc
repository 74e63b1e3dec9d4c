// Precision "strict": every operation is rounded by itself.
#include <gmock/gmock.h>

#include "baton/codegen/backend.h"
#include "baton/codegen/compile.h"
#include "baton/codegen/kernel/kernel_key.h"
#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/schedule/kernel_choice.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

#include "codegen/kernels.h"

namespace baton {
namespace {

class Precision : public testing::Test {
 protected:
  void SetUp() override { initialize(); }

  BuildContext context(const char* precision) {
    auto passes = std::make_shared<PassContext>();
    passes->opt_level = 3;
    passes->config.set("baton.precision", AttrValue(std::string(precision)));
    BuildContext made = host_context().with_passes(passes);
    made.cache = &cache_;
    return made;
  }

  BuildResult built(const char* text, const char* precision) {
    BuildOptions options{.context = context(precision)};
    return build(infer_types(parse_module(text, "net.relay")), options);
  }

  const test::Folder folder_;
  KernelCache cache_{folder_.path()};
};

constexpr const char* kMultiplyAdd = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(100), float32], %y: Tensor[(100), float32], %z: Tensor[(100), float32]) {
  add(multiply(%x, %y), %z)
})";

TEST_F(Precision, StrictProductsAreRoundedBeforeTheyAreAdded) {
  int differing = 0;
  for (const char* precision : {"strict", "f32"}) {
    const BuildResult result = built(kMultiplyAdd, precision);
    const auto executor = make_executor(result);
    NDArray inputs[3];
    for (int i = 0; i < 3; ++i) {
      inputs[i] = NDArray::empty({100}, DType::float_(32));
      for (int k = 0; k < 100; ++k)
        inputs[i].as<float>()[k] =
            (i < 2 ? 1.0f : -1.0f) + static_cast<float>((k + 1) * (i + 1)) * 1.1920929e-7f;
      ASSERT_TRUE(executor->set_input(static_cast<size_t>(i), inputs[i]).ok());
    }
    ASSERT_TRUE(executor->run().ok());
    const NDArray out = executor->output(0);
    for (int k = 0; k < 100; ++k) {
      volatile float product = inputs[0].as<float>()[k] * inputs[1].as<float>()[k];
      const float separately = product + inputs[2].as<float>()[k];
      if (std::string(precision) == "strict")
        EXPECT_EQ(out.as<float>()[k], separately) << k;
      else
        differing += out.as<float>()[k] != separately;
    }
  }
  // Where the processor multiplies and adds at once, the default does.
  const DeviceSheet host = host_context().host();
  const bool fused = host.float_lanes >= 16 || host.code_target.find("fma") != std::string::npos;
  EXPECT_EQ(differing > 0, fused);
}

constexpr const char* kConv = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 64, 28, 28), float32], %w: Tensor[(64, 64, 3, 3), float32]) {
  nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=64, kernel_size=[3, 3])
})";

TEST_F(Precision, StrictConvolutionsAreSumsOfProducts) {
  const auto templates = [&](const char* precision) {
    std::vector<std::string> names;
    for (const BuiltKernel& kernel : built(kConv, precision).kernels)
      names.push_back(kernel.kernel->template_name);
    return names;
  };
  EXPECT_THAT(templates("f32"), testing::Contains("conv_winograd"));
  EXPECT_THAT(templates("strict"), testing::Not(testing::Contains("conv_winograd")));
}

TEST_F(Precision, StrictAsksTheChoiceThatItIsGivenForAllElse) {
  struct Ones final : KernelChoice {
    ConvChoice conv_transpose(const ConvShape&, const DeviceSheet&) const override { return {{}, 3, 5}; }
    int64_t dense_block(int64_t, const DeviceSheet&) const override { return 7; }
    KernelSchedule schedule(const Function&, const DeviceSheet&) const override { return {"rows", {}}; }
  };
  const DeviceSheet host = host_context().host();
  const auto strict = strict_choice(std::make_shared<const Ones>());
  EXPECT_EQ(strict->conv_transpose({}, host).out_block, 5);
  EXPECT_EQ(strict->dense_block(64, host), 7);
  EXPECT_EQ(strict->schedule(nullptr, host).template_name, "rows");
}

TEST_F(Precision, KernelsOfBothAreApart) {
  const Function function = test::relu_chain({3}, 1);
  KernelRequest plain{function, {}, {}, {}}, strict = plain;
  strict.strict = true;
  EXPECT_NE(kernel_key(plain, host_context().host()).hex(), kernel_key(strict, host_context().host()).hex());
}

// The second time, Halide numbers the names of loops' bodies, and the module is made anew.
TEST_F(Precision, StrictKernelsCompileAgain) {
  KernelRequest strict{test::relu_chain({64, 64, 64}, 1), {}, {}, {}};
  strict.strict = true;
  for (int again = 0; again < 2; ++again) EXPECT_NO_THROW(compile_kernel(strict, host_context().host()));
}

TEST_F(Precision, OthersAreRefused) {
  EXPECT_THAT(
      [&] { built(kMultiplyAdd, "f16"); },
      testing::ThrowsMessage<UsageError>(testing::HasSubstr("\"f32\", \"strict\" and \"bf16\" are known")));
}

}  // namespace
}  // namespace baton
