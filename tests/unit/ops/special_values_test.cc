// NaN, infinities, signed zeros and denormal numbers through every operator, on the calls of its block's
// `.test_shapes`: the kernels of all schedules of the processor, and what folds constants, give what the
// operator's stages give one by one.
#include "ops/special_values.h"

#include <gtest/gtest.h>

#include "baton/driver/initialize.h"
#include "baton/ir/op.h"
#include "baton/ops/register.h"
#include "baton/schedule/template.h"
#include "baton/support/error.h"
#include "baton/target/device_sheet.h"

#include "ops/device_shapes.h"
#include "ops/evaluate.h"

namespace baton {
namespace {

using SpecialArrays = std::vector<NDArray>;

/// How many kernels were compared.
int expect_alike(const CallNode& call, const SpecialArrays& args, const Type& result,
                 const SpecialArrays& want) {
  int compared = 0;
  const auto compare = [&](const RunCall& run, const std::string& what) {
    SpecialArrays got;
    try {
      got = run(call, args, result);
    } catch (const NotSupported& refusal) {
      if (std::string(refusal.what()).find("does not take this kernel") == std::string::npos) throw;
      return;
    }
    ++compared;
    for (size_t i = 0; i < want.size(); ++i)
      device_shapes::expect_near(got.at(i), want[i], what + ", output " + std::to_string(i));
  };
  compare(run_folded(), "folded");
  for (const ScheduleTemplate* each : templates_of(DeviceSheet::host()))
    compare(run_kernel_of(each->name), each->name);
  return compared;
}

void expect_operators_alike(size_t step, size_t first, size_t most) {
  int compared = 0;
  device_shapes::for_each_operator(step, first, most, [&](const test::TestCase& each) {
    evaluate(each.function, test::special_inputs(each),
             [&](const CallNode& call, const SpecialArrays& args, const Type& result) {
               const SpecialArrays want = run_stages(call, args, result);
               compared += expect_alike(call, args, result, want);
               return want;
             });
  });
  EXPECT_GT(compared, 0);
}

TEST(SpecialValues, SomeOperators) { expect_operators_alike(12, 5, 1); }
TEST(SpecialValues, SlowEveryOperator) { expect_operators_alike(1, 0, 100); }

}  // namespace
}  // namespace baton
