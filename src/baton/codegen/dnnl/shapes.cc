// Operators that move elements. Reshapes and transpositions are views.
#include "baton/codegen/dnnl/operators.h"
#include "baton/ir/inspect.h"

namespace baton::dnnl_blob {
namespace {

View concatenate(RegionWriter& writer, const CallNode& call) {
  const std::vector<View>& parts = writer.values_of(call.args()[0]);
  if (parts.empty()) refuse("joins nothing");
  const int rank = static_cast<int>(parts[0].dims.size());
  const int axis = front_axis(int_attr(call, "axis"), rank);
  // In the order of the first part's tensor, so that blocked layouts are kept.
  const std::vector<int> order = writer.value_order(parts[0]);
  Step step{.kind = StepKind::kConcat, .axis = inverse(order)[static_cast<size_t>(axis)]};
  for (const View& part : parts) step.inputs.push_back(permuted(part, order));
  return writer.made(std::move(step), permuted(result_dims(call), order), order);
}

View reshaped(RegionWriter& writer, const CallNode& call) {
  const Dims dims = result_dims(call);
  const View value = writer.dense(writer.value_of(call.args()[0]));
  return {value.tensor, dims, dense_strides(dims)};
}

View transposed(RegionWriter& writer, const CallNode& call) {
  const View& value = writer.value_of(call.args()[0]);
  const int rank = static_cast<int>(value.dims.size());
  std::vector<int> order;
  for (const int64_t axis : ints_attr(call, "axes")) order.push_back(front_axis(axis, rank));
  if (order.empty())
    for (int axis = rank; axis-- > 0;) order.push_back(axis);
  return permuted(value, order);
}

}  // namespace

OperatorTable shape_operators() {
  const Operator reshape = {.lower = reshaped, .types = Types::kAny, .is_view = true};
  return {{"concatenate", {.lower = concatenate, .types = Types::kAny}},
          {"expand_dims", reshape},
          {"nn.batch_flatten", reshape},
          {"reshape", reshape},
          {"squeeze", reshape},
          {"transpose", {.lower = transposed, .types = Types::kAny, .is_view = true}}};
}

}  // namespace baton::dnnl_blob
