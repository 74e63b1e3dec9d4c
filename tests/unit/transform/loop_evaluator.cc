#include "transform/loop_evaluator.h"

#include <cmath>

#include "baton/ir/inspect.h"
#include "baton/ir/layout.h"
#include "baton/pass/origin_verifier.h"

namespace baton {

namespace {

/// Visits every index of `shape`, in row-major order.
template <class Visit>
void each_index(const Shape& shape, Visit&& visit) {
  const int64_t count = *element_count(shape);
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    visit(i, index);
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
}

float broadcast_at(const NDArray& array, const std::vector<int64_t>& index) {
  int64_t at = 0;
  const size_t skip = index.size() - array.shape().size();
  for (size_t axis = 0; axis < array.shape().size(); ++axis)
    at = at * array.shape()[axis] + (array.shape()[axis] == 1 ? 0 : index[axis + skip]);
  return array.as<float>()[at];
}

NDArray move_layout(const CallNode& call, const NDArray& from, NDArray to) {
  const Layout src = *Layout::parse(text_attr(call, "src_layout")), dst = *Layout::parse(text_attr(call, "dst_layout"));
  each_index(to.shape(), [&](int64_t i, const std::vector<int64_t>& index) {
    const std::vector<int64_t> source = convert_index(index, dst, src);
    int64_t at = 0;
    bool inside = true;
    for (size_t axis = 0; axis < source.size(); ++axis) {
      inside &= source[axis] < from.shape()[axis];
      at = at * from.shape()[axis] + source[axis];
    }
    to.as<float>()[i] = inside ? from.as<float>()[at] : 0;
  });
  return to;
}

}  // namespace

std::vector<NDArray> LoopEvaluator::evaluate(const CallNode& call) {
  const auto* type = as_type<TensorTypeNode>(call.checked_type());
  const std::string& name = call.op()->name;
  std::vector<NDArray> in;
  for (const Expr& arg : call.args()) {
    const auto* constant = as<ConstantNode>(arg);
    if (!constant || constant->value().dtype() != DType::float_(32)) throw NotSupported(name + " of this");
    in.push_back(constant->value());
  }
  if (!type || type->dtype() != DType::float_(32)) throw NotSupported(name + " with this result");
  if (call.op()->reshape_only) return {in[0].reshaped(type->extents())};
  NDArray out = NDArray::empty(type->extents(), type->dtype());
  if (name == "layout_transform") return {move_layout(call, in[0], out)};
  float (*f)(float, float) = nullptr;
  if (name == "add") f = [](float a, float b) { return a + b; };
  if (name == "subtract") f = [](float a, float b) { return a - b; };
  if (name == "multiply") f = [](float a, float b) { return a * b; };
  if (name == "divide") f = [](float a, float b) { return a / b; };
  if (name == "sqrt") f = [](float a, float) { return std::sqrt(a); };
  if (name == "rsqrt") f = [](float a, float) { return 1 / std::sqrt(a); };
  if (name == "negative") f = [](float a, float) { return -a; };
  if (!f) throw NotSupported(name);
  each_index(out.shape(), [&](int64_t i, const std::vector<int64_t>& index) {
    out.as<float>()[i] = f(broadcast_at(in[0], index), broadcast_at(in.back(), index));
  });
  return {out};
}

PassContextRef test_context(int opt_level) {
  auto context = std::make_shared<PassContext>();
  context->opt_level = opt_level;
  context->evaluator = std::make_shared<LoopEvaluator>();
  context->instruments.push_back(std::make_shared<OriginVerifier>());
  return context;
}

}  // namespace baton
