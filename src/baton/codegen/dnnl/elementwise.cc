// Operators on single elements. Where they can, they join the step that makes their operand.
#include <algorithm>

#include "baton/codegen/dnnl/operators.h"
#include "baton/ir/inspect.h"

namespace baton::dnnl_blob {
namespace {

template <Algorithm algorithm>
View elementwise(RegionWriter& writer, const CallNode& call) {
  return writer.activation(algorithm, 0, 0, call.args()[0]);
}

View clip(RegionWriter& writer, const CallNode& call) {
  const double low = float_attr(call, "a_min"), high = float_attr(call, "a_max");
  if (!(low <= high)) refuse("has a minimum above its maximum");
  return writer.activation(Algorithm::kClip, low, high, call.args()[0]);
}

View leaky_relu(RegionWriter& writer, const CallNode& call) {
  return writer.activation(Algorithm::kRelu, float_attr(call, "alpha"), 0, call.args()[0]);
}

View negative(RegionWriter& writer, const CallNode& call) {
  return writer.activation(Algorithm::kLinear, -1, 0, call.args()[0]);
}

/// A step that combines `left` with `right`, which broadcasts to it.
View combined(RegionWriter& writer, Algorithm algorithm, const View& left, const View& right) {
  const std::vector<int> order = writer.value_order(left);
  const View own = permuted(left, order);
  return writer.made(
      {.kind = StepKind::kBinary, .algorithm = algorithm, .inputs = {own, permuted(right, order)}}, own.dims,
      order);
}

View binary_of(RegionWriter& writer, Algorithm algorithm, const Expr& a, const Expr& b) {
  const bool commutes = algorithm != Algorithm::kSubtract && algorithm != Algorithm::kDivide;
  View left = writer.value_of(a), right = writer.value_of(b);
  if (writer.fuse_binary(algorithm, a, right)) return left;
  if (commutes && writer.fuse_binary(algorithm, b, left)) return right;
  const size_t rank = std::max(left.dims.size(), right.dims.size());
  left = aligned(left, rank), right = aligned(right, rank);
  if (!broadcasts(right.dims, left.dims)) {
    if (!commutes || !broadcasts(left.dims, right.dims))
      refuse("broadcasts both operands, or the first of an operation that does not commute");
    std::swap(left, right);
  }
  return combined(writer, algorithm, left, right);
}

template <Algorithm algorithm>
View binary(RegionWriter& writer, const CallNode& call) {
  return binary_of(writer, algorithm, call.args()[0], call.args()[1]);
}

View bias_add(RegionWriter& writer, const CallNode& call) {
  const View& data = writer.value_of(call.args()[0]);
  const size_t rank = data.dims.size();
  const int axis = front_axis(int_attr(call, "axis"), static_cast<int>(rank));
  const View bias = along_axis(writer.value_of(call.args()[1]), rank, static_cast<size_t>(axis));
  if (writer.fuse_binary(Algorithm::kAdd, call.args()[0], bias)) return data;
  return combined(writer, Algorithm::kAdd, data, bias);
}

}  // namespace

OperatorTable elementwise_operators() {
  return {{"abs", {elementwise<Algorithm::kAbs>}},
          {"add", {binary<Algorithm::kAdd>}},
          {"clip", {clip}},
          {"divide", {binary<Algorithm::kDivide>}},
          {"exp", {elementwise<Algorithm::kExp>}},
          {"log", {elementwise<Algorithm::kLog>}},
          {"maximum", {binary<Algorithm::kMaximum>}},
          {"minimum", {binary<Algorithm::kMinimum>}},
          {"multiply", {binary<Algorithm::kMultiply>}},
          {"negative", {negative}},
          {"nn.bias_add", {bias_add}},
          {"nn.leaky_relu", {leaky_relu}},
          {"nn.relu", {elementwise<Algorithm::kRelu>}},
          {"sigmoid", {elementwise<Algorithm::kSigmoid>}},
          {"sqrt", {elementwise<Algorithm::kSqrt>}},
          {"subtract", {binary<Algorithm::kSubtract>}},
          {"tanh", {elementwise<Algorithm::kTanh>}}};
}

}  // namespace baton::dnnl_blob
