// x / c  ->  x * (1 / c), where no element of the constant c is 0: a multiplication costs a fraction of a
// division, and what looks for factors (FakeQuantizationToInteger) finds one.
#include <algorithm>

#include "baton/ir/build.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/support/base/float16.h"

namespace baton {

namespace {

template <class Element>
NDArray inverted(const NDArray& value) {
  const auto from = value.as<Element>();
  if (std::find(from.begin(), from.end(), Element(0)) != from.end()) return {};
  NDArray result = NDArray::empty(value.shape(), value.dtype());
  std::transform(from.begin(), from.end(), result.as<Element>().begin(),
                 [](Element x) { return Element(1) / x; });
  return result;
}

NDArray inverted_half(const NDArray& value) {
  NDArray result = NDArray::empty(value.shape(), value.dtype());
  const auto from = value.as<uint16_t>();
  for (size_t i = 0; i < from.size(); ++i) {
    const float x = half_to_float(from[i]);
    if (x == 0) return {};
    result.as<uint16_t>()[i] = half_from_float(1 / x);
  }
  return result;
}

/// 1 / value; undefined when that cannot be had.
NDArray inverse(const NDArray& value) {
  const DType dtype = value.dtype();
  if (dtype == DType::float_(32)) return inverted<float>(value);
  if (dtype == DType::float_(64)) return inverted<double>(value);
  if (dtype == DType::float_(16)) return inverted_half(value);
  return {};
}

class Multiplier final : public Rewriter {
  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    const CallNode* division = call_of(rebuilt, "divide");
    const auto* divisor = division ? as<ConstantNode>(division->args()[1]) : nullptr;
    const NDArray factor = divisor ? inverse(divisor->value()) : NDArray();
    if (!factor) return rebuilt;
    const OriginScope scope(division->origins().merge(divisor->origins()));
    return call_op("multiply", {division->args()[0], constant(factor)});
  }
};

}  // namespace

Pass div_to_mul() {
  return function_pass({0, "DivToMul", {"InferType", "FoldConstant"}},
                       [](const Function& function, const IRModule&, const PassContext&) {
                         return as_ref<FunctionNode>(Multiplier().run(function));
                       });
}

}  // namespace baton
