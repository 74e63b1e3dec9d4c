// Every operator that `opencl` takes, on the calls of its block's `.test_shapes`.
#include <gtest/gtest.h>

#include "in_parts.h"
#include "ops/device_shapes.h"
#include "ops/special_values.h"
#include "runtime/opencl.h"

namespace baton {
namespace {

constexpr device_shapes::KernelDevice kOnOpenCl{"opencl", kOpenClKind, "need an extension of OpenCL"};

class OpenClShapes : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = opencl_missing(); !why.empty()) GTEST_SKIP() << why;
  }
};

class OpenClShapesInParts : public InParts<2> {
 protected:
  void SetUp() override {
    if (const std::string why = opencl_missing(); !why.empty()) GTEST_SKIP() << why;
  }
};
BATON_TEST_IN_PARTS(OpenClShapesInParts, 2);

TEST_P(OpenClShapesInParts, SomeOperatorsComputeWhatTheProcessorComputes) {
  device_shapes::expect_operators_right(kOnOpenCl, 16, 8 * GetParam(), 1);
}

TEST_P(OpenClShapesInParts, ProductsComputeWhatTheProcessorComputes) {
  device_shapes::expect_products_right(kOnOpenCl, {GetParam(), 2});
}

TEST_P(OpenClShapesInParts, SumsComputeWhatTheProcessorComputes) {
  device_shapes::expect_sums_right(kOnOpenCl, {GetParam(), 2});
}

TEST_F(OpenClShapes, LayersComputeWhatTheProcessorComputes) { device_shapes::expect_layers_right(kOnOpenCl); }

TEST_F(OpenClShapes, PartsOfSumsComputeWhatTheProcessorComputes) {
  device_shapes::expect_parts_right(kOnOpenCl);
}

TEST_F(OpenClShapes, SlowEveryOperatorComputesWhatTheProcessorComputes) {
  device_shapes::expect_operators_right(kOnOpenCl, 1, 0, 100);
}

TEST_F(OpenClShapes, SpecialValues) {
  device_shapes::expect_operators_right(kOnOpenCl, 12, 5, 1, test::device_inputs);
}

TEST_F(OpenClShapes, SlowSpecialValuesThroughEveryOperator) {
  device_shapes::expect_operators_right(kOnOpenCl, 1, 0, 100, test::device_inputs);
}

}  // namespace
}  // namespace baton
