// Softmax, and normalisations.
#include <algorithm>
#include <iterator>
#include <string>

#include "baton/codegen/dnnl/operators.h"
#include "baton/ir/inspect.h"

namespace baton::dnnl_blob {
namespace {

constexpr size_t kMostNormalised = 5;  // axes of oneDNN's batch normalisation

template <Algorithm algorithm>
View softmax(RegionWriter& writer, const CallNode& call) {
  const View& value = writer.value_of(call.args()[0]);
  const int axis = front_axis(int_attr(call, "axis"), static_cast<int>(value.dims.size()));
  return writer.made({.kind = StepKind::kSoftmax, .algorithm = algorithm, .inputs = {value}, .axis = axis},
                     value.dims);
}

/// The operand of a normalisation at `index` (gamma or beta), or ones or zeros where it has none.
View vector_of(RegionWriter& writer, const CallNode& norm, size_t index, const char* used, int64_t extent,
               float otherwise) {
  if (bool_attr(norm, used)) return writer.value_of(norm.args()[index]);
  return writer.add_vector(std::vector<float>(static_cast<size_t>(extent), otherwise));
}

View layer_norm(RegionWriter& writer, const CallNode& call) {
  const View value = writer.value_of(call.args()[0]);
  const int rank = static_cast<int>(value.dims.size());
  if (front_axis(int_attr(call, "axis"), rank) != rank - 1) refuse("normalises another axis than the last");
  const int64_t extent = value.dims.back();
  std::vector<View> vectors;
  if (bool_attr(call, "scale") || bool_attr(call, "center"))
    vectors = {vector_of(writer, call, 1, "scale", extent, 1),
               vector_of(writer, call, 2, "center", extent, 0)};
  return standardised_rows(writer, value, extent, float_attr(call, "epsilon"), vectors);
}

/// Groups of channels are rows; what differs by channel follows as a step of its own.
View group_norm(RegionWriter& writer, const CallNode& call) {
  const View value = writer.value_of(call.args()[0]);
  const auto rank = value.dims.size();
  if (rank < 2 || front_axis(int_attr(call, "axis"), static_cast<int>(rank)) != 1)
    refuse("has its channels along another axis than the second");
  const int64_t groups = call.op()->name == "nn.group_norm" ? int_attr(call, "num_groups") : value.dims[1];
  const int64_t extent = elements(value.dims) / value.dims[0] / groups;
  const View standard = standardised_rows(writer, value, extent, float_attr(call, "epsilon"), {});
  const auto by_channel = [&](size_t index) {
    return along_axis(writer.value_of(call.args()[index]), rank, 1);
  };
  const bool scales = bool_attr(call, "scale"), centers = bool_attr(call, "center");
  if (!scales && !centers) return standard;
  Step step{.kind = StepKind::kBinary,
            .algorithm = scales ? Algorithm::kMultiply : Algorithm::kAdd,
            .inputs = {standard, by_channel(scales ? 1 : 2)}};
  if (scales && centers) step.posts.push_back({PostKind::kBinary, Algorithm::kAdd, 0, 0, {by_channel(2)}});
  return writer.made(std::move(step), value.dims);
}

View batch_norm(RegionWriter& writer, const CallNode& call) {
  const View& value = writer.value_of(call.args()[0]);
  const size_t rank = value.dims.size();
  if (rank < 2 || rank > kMostNormalised) refuse("has data of " + std::to_string(rank) + " axes, not 2 to 5");
  const auto axis = static_cast<size_t>(front_axis(int_attr(call, "axis"), static_cast<int>(rank)));
  std::vector<int> order = same_order(rank);
  order.erase(order.begin() + static_cast<ptrdiff_t>(axis));
  order.insert(order.begin() + 1, static_cast<int>(axis));
  const View data = permuted(value, order);
  const int64_t channels = data.dims[1];
  Step step{.kind = StepKind::kBatchNorm,
            .inputs = {data, vector_of(writer, call, 1, "scale", channels, 1),
                       vector_of(writer, call, 2, "center", channels, 0), writer.value_of(call.args()[3]),
                       writer.value_of(call.args()[4])},
            .alpha = float_attr(call, "epsilon")};
  return writer.made(std::move(step), data.dims, order);
}

}  // namespace

View standardised_rows(RegionWriter& writer, const View& value, int64_t extent, double epsilon,
                       const std::vector<View>& vectors) {
  const View data = writer.dense(value);
  const Dims rows = {elements(value.dims) / extent, extent};
  Step step{
      .kind = StepKind::kLayerNorm, .inputs = {{data.tensor, rows, dense_strides(rows)}}, .alpha = epsilon};
  std::ranges::copy(vectors, std::back_inserter(step.inputs));
  const View made = writer.made(std::move(step), rows);
  return {made.tensor, value.dims, dense_strides(value.dims)};
}

OperatorTable norm_operators() {
  // The other results of batch_norm are the moments that it is given.
  return {{"nn.batch_norm", {.lower = batch_norm, .forwarded = {3, 4}}},
          {"nn.group_norm", {group_norm}},
          {"nn.instance_norm", {group_norm}},
          {"nn.layer_norm", {layer_norm}},
          {"nn.log_softmax", {softmax<Algorithm::kLogSoftmax>}},
          {"nn.softmax", {softmax<Algorithm::kSoftmax>}}};
}

}  // namespace baton::dnnl_blob
