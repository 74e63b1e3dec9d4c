// Every operator that `cuda` takes, on the calls of its block's `.test_shapes`: what each GPU template makes
// of it assembles, and computes on the stand-in for a driver (runtime/fake_cuda) what the processor computes.
#include <algorithm>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "baton/codegen/backend.h"
#include "baton/driver/initialize.h"
#include "baton/ir/op.h"
#include "baton/ops/register.h"
#include "baton/runtime/gpu/device_code.h"
#include "baton/schedule/kernel_choice.h"
#include "baton/support/error.h"

#include "ops/device_shapes.h"
#include "ops/evaluate.h"
#include "ops/numbers.h"
#include "ops/special_values.h"
#include "ops/test_shapes.h"
#include "runtime/cuda.h"
#include "runtime/fake_cuda.h"

namespace baton {
namespace {

using CudaArrays = std::vector<NDArray>;

class NamedTemplate final : public KernelChoice {
 public:
  explicit NamedTemplate(std::string name) : name_(std::move(name)) {}
  KernelSchedule schedule(const Function&, const DeviceSheet&) const override { return {name_, {}}; }

 private:
  const std::string name_;
};

struct Assembled {
  int kernels = 0;
  std::map<std::string, int> by_template, refused;
};

/// Assembles the call's kernel by each template that takes it, and goes on with what the processor computes.
RunCall assembled_too(Assembled& seen) {
  const RunCall trivial = run_kernel_of("trivial");
  return [&seen, trivial](const CallNode& call, const CudaArrays& args, const Type& result) {
    const Function function = kernel_function(call, args, result);
    BuildContext context = host_context();
    const BackendRef cuda = find_backend("cuda");
    const DeviceSheet sheet =
        cuda->with_options(*context.sheet_of("cuda"), *Target::parse("cuda -arch=sm_80"));
    if (const std::string why = cuda->takes(*function, sheet); !why.empty()) {
      ++seen.refused[why];
      return trivial(call, args, result);
    }
    ++seen.kernels;
    const BackendFunction wanted{"kernel", function};
    for (const std::string name : {"gpu_naive", "gpu_tiled", "gpu_shared"}) {
      context.choice = std::make_shared<const NamedTemplate>(name);
      Built built;
      try {
        built = cuda->compile({&wanted, 1}, sheet, context);
      } catch (const NotSupported& refusal) {
        if (std::string(refusal.what()).find("does not take this kernel") == std::string::npos) throw;
        continue;
      }
      ++seen.by_template[name];
      const std::string source = cuda->source(built.blob);
      if (source.find(".entry") == std::string::npos) continue;  // a result without elements
      for (const char* arch : {"sm_80", "sm_90"}) EXPECT_EQ(assembly_error(source, arch), "") << name;
    }
    return trivial(call, args, result);
  };
}

/// The shapes of every `step`-th operator from `first` on, at most `most` of each.
void expect_operators_assemble(size_t step, size_t first, size_t most) {
  if (ptxas().empty()) GTEST_SKIP() << "no ptxas (pip install nvidia-cuda-nvcc-cu12)";
  Assembled seen;
  device_shapes::for_each_operator(step, first, most, [&](const test::TestCase& each) {
    evaluate(each.function, each.inputs, assembled_too(seen));
  });
  EXPECT_GT(seen.kernels, 0);
  EXPECT_EQ(seen.by_template["gpu_naive"], seen.kernels) << "the naive schedule takes everything";
  for (const auto& [why, count] : seen.refused)
    EXPECT_NE(why.find("are not computed by `cuda` yet"), std::string::npos) << why;
}

TEST(CudaShapes, SomeOperatorsAssemble) { expect_operators_assemble(8, 3, 1); }

TEST(CudaShapes, LayersAssemble) {
  if (ptxas().empty()) GTEST_SKIP() << "no ptxas (pip install nvidia-cuda-nvcc-cu12)";
  initialize();
  Assembled seen;
  for (const char* name : {"nn.conv2d", "nn.contrib_conv2d_NCHWc", "nn.dense", "nn.contrib_dense_pack",
                           "nn.matmul", "nn.batch_matmul", "nn.softmax", "nn.max_pool2d"}) {
    const OpDef& op = *find_op(name);
    SCOPED_TRACE(name);
    const test::TestCase each = test::test_case(op, op.test_shapes.at(0));
    evaluate(each.function, each.inputs, assembled_too(seen));
  }
  EXPECT_GE(seen.by_template["gpu_tiled"], 3);
}

constexpr device_shapes::KernelDevice kOnCuda{"cuda", kCudaKind, "are not computed by `cuda` yet"};

TEST(CudaShapes, SomeOperatorsComputeWhatTheProcessorComputes) {
  IN_A_PROCESS_WITH_A_DRIVER(Settings{}, [] { device_shapes::expect_operators_right(kOnCuda, 8, 3, 1); });
}

TEST(CudaShapes, LayersComputeWhatTheProcessorComputes) {
  IN_A_PROCESS_WITH_A_DRIVER(Settings{}, [] { device_shapes::expect_layers_right(kOnCuda); });
}

TEST(CudaShapes, ProductsAssemble) {
  if (ptxas().empty()) GTEST_SKIP() << "no ptxas (pip install nvidia-cuda-nvcc-cu12)";
  device_shapes::for_each_product([](const device_shapes::Product& product, const test::TestCase& each) {
    Assembled seen;
    evaluate(each.function, each.inputs, assembled_too(seen));
    EXPECT_EQ(seen.by_template["gpu_shared"], product.shared ? 1 : 0);
  });
}

TEST(CudaShapes, SumsComputeWhatTheProcessorComputes) {
  IN_A_PROCESS_WITH_A_DRIVER(Settings{}, [] { device_shapes::expect_sums_right(kOnCuda); });
}

TEST(CudaShapes, PartsOfSumsComputeWhatTheProcessorComputes) {
  IN_A_PROCESS_WITH_A_DRIVER(Settings{}, [] { device_shapes::expect_parts_right(kOnCuda); });
}

TEST(CudaShapes, ProductsComputeWhatTheProcessorComputes) {
  IN_A_PROCESS_WITH_A_DRIVER(Settings{}, [] { device_shapes::expect_products_right(kOnCuda); });
}

TEST(CudaShapes, SlowEveryOperatorComputesWhatTheProcessorComputes) {
  IN_A_PROCESS_WITH_A_DRIVER(Settings{}, [] { device_shapes::expect_operators_right(kOnCuda, 1, 0, 100); });
}

TEST(CudaShapes, SpecialValues) {
  IN_A_PROCESS_WITH_A_DRIVER(
      Settings{}, [] { device_shapes::expect_operators_right(kOnCuda, 12, 5, 1, test::device_inputs); });
}

TEST(CudaShapes, SlowSpecialValuesThroughEveryOperator) {
  IN_A_PROCESS_WITH_A_DRIVER(
      Settings{}, [] { device_shapes::expect_operators_right(kOnCuda, 1, 0, 100, test::device_inputs); });
}

/// The same on a real device, where there is one.
class CudaDeviceShapes : public OnCudaDevice {};

TEST_F(CudaDeviceShapes, SomeOperatorsComputeWhatTheProcessorComputes) {
  device_shapes::expect_operators_right(kOnCuda, 8, 3, 1);
}

TEST_F(CudaDeviceShapes, ProductsComputeWhatTheProcessorComputes) {
  device_shapes::expect_products_right(kOnCuda);
}

TEST_F(CudaDeviceShapes, SumsComputeWhatTheProcessorComputes) { device_shapes::expect_sums_right(kOnCuda); }

TEST_F(CudaDeviceShapes, PartsOfSumsComputeWhatTheProcessorComputes) {
  device_shapes::expect_parts_right(kOnCuda);
}

TEST_F(CudaDeviceShapes, SlowEveryOperatorComputesWhatTheProcessorComputes) {
  device_shapes::expect_operators_right(kOnCuda, 1, 0, 100);
}

TEST_F(CudaDeviceShapes, SlowSpecialValuesThroughEveryOperator) {
  device_shapes::expect_operators_right(kOnCuda, 1, 0, 100, test::device_inputs);
}

TEST(CudaShapes, SlowEveryOperatorAssembles) { expect_operators_assemble(1, 0, 100); }

}  // namespace
}  // namespace baton
