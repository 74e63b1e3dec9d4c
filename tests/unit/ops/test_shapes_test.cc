// Every operator with a compute on the calls of its block's `.test_shapes`: what each schedule template that
// takes the call computes is what the trivial schedule computes.
#include "ops/test_shapes.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "baton/codegen/compile.h"
#include "baton/schedule/template.h"
#include "baton/support/error.h"

#include "codegen/kernels.h"
#include "ops/evaluate.h"
#include "ops/numbers.h"

namespace baton {
namespace {

using Arrays = std::vector<NDArray>;

Arrays run_template(const Function& function, const std::string& name, const Arrays& args) {
  KernelRequest request;
  request.function = function;
  request.template_name = name;
  const JitKernel kernel = jit_kernel(request, DeviceSheet::host());
  return test::call_kernel(kernel.function, function, args);
}

/// Products are summed in other orders: differences count against the largest value.
void expect_alike(const NDArray& got, const NDArray& want, const std::string& what) {
  ASSERT_EQ(got.shape(), want.shape()) << what;
  const std::vector<double> a = test::numbers(got), b = test::numbers(want);
  double largest = 1;
  for (const double value : b)
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  const DType type = want.dtype();
  const double tolerance = !type.is_float() ? 0 : type.bits == 64 ? 1e-12 : type.bits == 32 ? 1e-5 : 1e-2;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    if (std::fabs(a[i] - b[i]) <= tolerance * largest) continue;
    ADD_FAILURE() << what << ": element " << i << " is " << a[i] << ", by the trivial schedule " << b[i];
    return;
  }
}

/// By the trivial schedule, and by every template that takes the call: these are counted in `taken`.
RunCall every_template(int& taken) {
  return [&taken](const CallNode& call, const Arrays& args, const Type& result) {
    const Function function = kernel_function(call, args, result);
    const Arrays want = run_template(function, "trivial", args);
    for (const ScheduleTemplate* each : schedule_templates()) {
      if (each->name == std::string("trivial")) continue;
      Arrays got;
      try {
        got = run_template(function, each->name, args);
      } catch (const NotSupported& refusal) {
        if (std::string(refusal.what()).find("does not take this kernel") == std::string::npos) throw;
        continue;
      }
      ++taken;
      EXPECT_EQ(got.size(), want.size()) << each->name;
      for (size_t k = 0; k < std::min(got.size(), want.size()); ++k)
        expect_alike(got[k], want[k], std::string(each->name) + ", output " + std::to_string(k));
    }
    return want;
  };
}

class TestShapes : public testing::TestWithParam<const OpDef*> {};

TEST_P(TestShapes, TemplatesComputeWhatTheTrivialScheduleComputes) {
  const OpDef& op = *GetParam();
  EXPECT_FALSE(op.test_shapes.empty()) << op.name << " has a compute and no .test_shapes in its block";
  for (const char* text : op.test_shapes) {
    SCOPED_TRACE(op.name + ": " + text);
    try {
      int taken = 0;
      const test::TestCase each = test::test_case(op, text);
      const Arrays outputs = evaluate(each.function, each.inputs, every_template(taken));
      EXPECT_FALSE(outputs.empty());
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, TestShapes, testing::ValuesIn(test::computed_ops()),
                         [](const auto& info) {
                           std::string name = info.param->name;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

TEST(TestShapeTexts, SayWhatIsWrong) {
  register_all_ops();
  const OpDef& relu = *find_op("nn.relu");
  EXPECT_EQ(test::test_case(relu, "(2, 3)f64[0.5, 2]").inputs[0].shape(), (Shape{2, 3}));
  EXPECT_THROW(test::test_case(relu, "(2, 3)f31"), std::runtime_error);
  EXPECT_THROW(test::test_case(relu, "(2, 3"), std::runtime_error);
  EXPECT_THROW(test::test_case(relu, "(2)f32 (3)f32"), std::runtime_error);
  const test::TestCase joined =
      test::test_case(*find_op("concatenate"), "[(2)i32{7, 8}, (1)i32={9}], axis=-1");
  EXPECT_EQ(joined.inputs.size(), 1u);
  EXPECT_EQ(test::numbers(evaluate(joined.function, joined.inputs)[0]), (std::vector<double>{7, 8, 9}));
}

}  // namespace
}  // namespace baton
