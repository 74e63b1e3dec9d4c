#include "ops/special_values.h"

#include <cmath>
#include <limits>
#include <span>

#include "ops/numbers.h"

namespace baton::test {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(),
                 kNan = std::numeric_limits<double>::quiet_NaN();
// Many ordinary ones: in a row of ten a sum should not always be NaN.
constexpr double kValues[] = {1,    -0.5, 2.5,    -0.0, 0.25, kInf,  -1,  0,    7.5, 1e-40, -3,  kNan,
                              0.75, 100,  -1e-40, 1.5,  -2,   -kInf, 0.5, -100, 3,   -1.25, 1e-7};

std::vector<NDArray> with_values(const TestCase& each, std::span<const double> special) {
  std::vector<NDArray> inputs;
  size_t next = 0;
  const std::string& name = as<CallNode>(each.function->body())->op()->name;
  for (const NDArray& ordinary : each.inputs) {
    const DType type = ordinary.dtype();
    // Scalars are factors and the like. Schedules of convolutions leave out what the padding would multiply,
    // which is no 0 where a weight is infinite.
    const bool is_weight = !inputs.empty() && name.find("conv") != std::string::npos;
    if (!type.is_float() || ordinary.shape().empty() || is_weight) {
      inputs.push_back(ordinary);
      continue;
    }
    std::vector<double> values(static_cast<size_t>(ordinary.size()));
    for (double& value : values) value = special[next++ % special.size()];
    next += 5;  // the operands of an element differ
    inputs.push_back(from_numbers(values, ordinary.shape(), type));
  }
  return inputs;
}

}  // namespace

std::vector<NDArray> special_inputs(const TestCase& each) { return with_values(each, kValues); }

std::vector<NDArray> device_inputs(const TestCase& each) {
  const TensorTypeNode* result = tensor_type_of(each.function->body());
  if (result && !result->dtype().is_float() &&
      (is_call(each.function->body(), "cast") || is_call(each.function->body(), "cast_like")))
    return each.inputs;
  std::vector<double> normal(std::begin(kValues), std::end(kValues));
  std::erase_if(normal, [](double value) { return value != 0 && std::fabs(value) < 1e-30; });
  return with_values(each, normal);
}

}  // namespace baton::test
