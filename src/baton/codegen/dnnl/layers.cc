// Convolutions, matrix products and pools. Layouts are views: NHWC is the same convolution with other
// strides.
#include <algorithm>
#include <string>

#include "baton/codegen/dnnl/operators.h"
#include "baton/ir/inspect.h"
#include "baton/ir/layout.h"
#include "baton/ir/op_names.h"

namespace baton::dnnl_blob {
namespace {

Dims ints(const std::vector<int64_t>& values, size_t count, int64_t fallback) {
  if (values.empty()) return Dims(count, fallback);
  return values.size() == 1 ? Dims(count, values[0]) : values;
}

/// Padding as given to convolutions and pools: one value, one per axis, or all befores and then all afters.
void set_padding(Step& step, const std::vector<int64_t>& padding, size_t axes) {
  if (padding.size() == 2 * axes) {
    step.before.assign(padding.begin(), padding.begin() + static_cast<ptrdiff_t>(axes));
    step.after.assign(padding.begin() + static_cast<ptrdiff_t>(axes), padding.end());
  } else {
    step.before = step.after = ints(padding, axes, 0);
  }
}

/// The spatial axes of a layer's data, as layouts name them.
std::string spatial_axes(const View& data) {
  if (data.dims.size() < 3) refuse("has data without spatial axes");
  return std::string("DHW").substr(5 - data.dims.size());
}

/// The position in `layout` of each letter of `wanted`.
std::vector<int> order_of(const std::string& layout, const std::string& wanted) {
  const auto parsed = Layout::parse(layout);
  std::vector<int> order;
  for (const char letter : wanted) order.push_back(parsed ? parsed->find(letter) : -1);
  if (!parsed || parsed->rank() != static_cast<int>(wanted.size()) || std::ranges::count(order, -1))
    refuse("layout " + layout + " is none of plain axes " + wanted);
  return order;
}

/// Marks a product of bytes: what its sums of products cannot exceed, data taken as uint8. `outputs`: by axis
/// of the weight, whether it goes along outputs instead of a sum.
void bound_sums(const RegionWriter& writer, Step& step, const std::vector<bool>& outputs) {
  constexpr int64_t kLargestByte = 255, kLargestWeight = 128;
  const View& weight = step.inputs[1];
  if (writer.tensor(weight.tensor).type != ElementType::kInt8) return;
  if (const NDArray* constant = writer.constant(weight.tensor)) {
    step.largest = std::max<int64_t>(1, largest_sum(constant->as<int8_t>(), weight, outputs)) * kLargestByte;
    return;
  }
  int64_t summed = 1;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!outputs[i]) summed *= weight.dims[i];
  step.largest = summed * kLargestByte * kLargestWeight;
}

/// The weight as oneDNN's (out, in, ...), with an axis of groups before if there are several.
View grouped(const View& weight, int64_t groups, StepKind kind, int64_t out, int64_t in) {
  View w = weight;
  if (groups > 1) {
    // A convolution's first axis goes over all groups; a transposed one's axis of inputs does;
    // depthwise ones may have the multiplier as their second axis instead.
    const size_t split = kind == StepKind::kConvolution ? 0 : 1;
    if (kind == StepKind::kConvolution && w.dims[0] * w.dims[1] == out && w.dims[0] == groups &&
        in == groups) {
      // (groups, multiplier): the multiplier becomes the outputs of a group
      std::swap(w.dims[0], w.dims[1]);
      std::swap(w.strides[0], w.strides[1]);
      w.dims.insert(w.dims.begin(), groups), w.strides.insert(w.strides.begin(), w.strides[1]);
      w.dims[2] = 1;
    } else {
      if (w.dims[split] % groups) refuse("has channels that its groups do not divide");
      const int64_t part = w.dims[split] / groups;
      w.dims[split] = part;
      w.dims.insert(w.dims.begin(), groups);
      w.strides.insert(w.strides.begin(), w.strides[split] * part);
    }
  }
  const size_t first = groups > 1 ? 1 : 0;
  if (w.dims[first] * groups != out || w.dims[first + 1] * groups != in)
    refuse("has a weight whose channels are not those of its data and result");
  return w;
}

View convolve(RegionWriter& writer, const CallNode& call, StepKind kind) {
  const View &data = writer.value_of(call.args()[0]), &weight = writer.value_of(call.args()[1]);
  const std::string spatial = spatial_axes(data);
  const size_t axes = spatial.size();
  const std::string data_layout = text_attr(call, "data_layout"), out_layout = text_attr(call, "out_layout");
  if (!out_layout.empty() && out_layout != data_layout) refuse("changes the layout");
  const std::vector<int> order = order_of(data_layout, "NC" + spatial);
  const View in = permuted(data, order);
  // Relay's transposed convolution has its weight as (in, out / groups, ...), which it names by I and O.
  const View w = permuted(weight, order_of(text_attr(call, "kernel_layout"), "OI" + spatial));
  const int64_t groups = int_attr(call, "groups");
  const Dims out = permuted(result_dims(call), order);
  Step step{.kind = kind, .inputs = {in, grouped(w, groups, kind, out[1], in.dims[1])}};
  step.strides = ints(ints_attr(call, "strides"), axes, 1);
  step.dilates = ints(ints_attr(call, "dilation"), axes, 1);
  set_padding(step, ints_attr(call, "padding"), axes);
  for (size_t i = 0; i < axes; ++i) {
    const int64_t reach = (w.dims[2 + i] - 1) * step.dilates[i] + 1;
    --step.dilates[i];
    if (kind == StepKind::kDeconvolution)  // output_padding takes from the padding after
      step.after[i] = (in.dims[2 + i] - 1) * step.strides[i] + reach - out[2 + i] - step.before[i];
  }
  std::vector<bool> outputs(step.inputs[1].dims.size(), false);
  outputs[0] = true;
  if (groups > 1) outputs[1] = true;
  bound_sums(writer, step, outputs);
  return writer.made(std::move(step), out, order);
}

View deconvolution(RegionWriter& writer, const CallNode& call) {
  return convolve(writer, call, StepKind::kDeconvolution);
}

/// The matrix product `a` x `b`; `outputs` as in bound_sums.
View product(RegionWriter& writer, const View& a, const View& b, const std::vector<bool>& outputs,
             const Dims& out) {
  Step step{.kind = StepKind::kMatmul, .inputs = {a, b}};
  bound_sums(writer, step, outputs);
  return writer.made(std::move(step), out);
}

View batch_matmul(RegionWriter& writer, const CallNode& call) {
  View a = writer.value_of(call.args()[0]), b = writer.value_of(call.args()[1]);
  if (bool_attr(call, "transpose_a")) a = permuted(a, {0, 2, 1});
  if (bool_attr(call, "transpose_b")) b = permuted(b, {0, 2, 1});
  return product(writer, a, b, {true, false, true}, result_dims(call));
}

View matmul(RegionWriter& writer, const CallNode& call) {
  View a = writer.value_of(call.args()[0]), b = writer.value_of(call.args()[1]);
  if (a.dims.size() != 2 || b.dims.size() != 2) refuse("has operands that are no matrices");
  if (bool_attr(call, "transpose_a")) a = permuted(a, {1, 0});
  if (bool_attr(call, "transpose_b")) b = permuted(b, {1, 0});
  return product(writer, a, b, {false, true}, result_dims(call));
}

/// Windows of a pool with padding, over data of extents `in` and with a result of extents `out`.
void set_windows(Step& step, const CallNode& call, const Dims& in, const Dims& out) {
  const size_t axes = in.size() - 2;
  step.window = ints(ints_attr(call, "pool_size"), axes, 1);
  step.strides = ints(ints_attr(call, "strides"), axes, 1);
  step.dilates = ints(ints_attr(call, "dilation"), axes, 1);
  set_padding(step, ints_attr(call, "padding"), axes);
  const bool padded = step.algorithm == Algorithm::kPoolAverage && bool_attr(call, "count_include_pad");
  if (padded) step.algorithm = Algorithm::kPoolAveragePadded;
  for (size_t i = 0; i < axes; ++i) {
    const int64_t reach = (step.window[i] - 1) * step.dilates[i] + 1;
    const int64_t last = (out[2 + i] - 1) * step.strides[i];  // where the last window starts
    const int64_t after = last + reach - in[2 + i] - step.before[i];
    if (step.before[i] >= reach || last - step.before[i] >= in[2 + i])
      refuse("has a window that lies in the padding alone");
    if (padded && after > step.after[i]) refuse("rounds up and counts padding");
    step.after[i] = std::max(step.after[i], after);  // ceil_mode
    --step.dilates[i];
  }
}

View pool(RegionWriter& writer, const CallNode& call) {
  const std::string& name = call.op()->name;
  const View& data = writer.value_of(call.args()[0]);
  const std::vector<int> order = order_of(text_attr(call, "layout"), "NC" + spatial_axes(data));
  const View in = permuted(data, order);
  const Dims out = permuted(result_dims(call), order);
  const bool average = name.find("avg") != std::string::npos;
  Step step{.kind = StepKind::kPooling,
            .algorithm = average ? Algorithm::kPoolAverage : Algorithm::kPoolMax,
            .inputs = {in}};
  if (name.find("global") != std::string::npos) {
    step.window.assign(in.dims.begin() + 2, in.dims.end());
    step.strides = Dims(step.window.size(), 1);
    step.dilates = step.before = step.after = Dims(step.window.size(), 0);
  } else {
    set_windows(step, call, in.dims, out);
  }
  return writer.made(std::move(step), out, order);
}

}  // namespace

View convolution(RegionWriter& writer, const CallNode& call) {
  return convolve(writer, call, StepKind::kConvolution);
}

View dense_layer(RegionWriter& writer, const CallNode& call) {
  const View& weight = writer.value_of(call.args()[1]);
  const View data = writer.dense(writer.value_of(call.args()[0]));
  const Dims out = result_dims(call);
  if (weight.dims.size() != 2) refuse("has a packed weight");
  const int64_t rows = elements(out) / weight.dims[0], k = weight.dims[1];
  const View value = product(writer, {data.tensor, {rows, k}, {k, 1}}, permuted(weight, {1, 0}),
                             {false, true}, {rows, weight.dims[0]});
  // With another rank the value is a view of it, to which nothing can be fused any more.
  return out.size() == 2 ? value : View{value.tensor, out, dense_strides(out)};
}

OperatorTable layer_operators() {
  const Operator average = {pool}, maximum = {.lower = pool, .types = Types::kMaximum};
  const Operator conv = {.lower = convolution, .types = Types::kProduct};
  return {{op_names::kBatchMatmul, {.lower = batch_matmul, .types = Types::kProduct}},
          {"nn.avg_pool1d", average},
          {"nn.avg_pool2d", average},
          {"nn.avg_pool3d", average},
          {"nn.conv1d", conv},
          {op_names::kConv2D, conv},
          {"nn.conv2d_transpose", {deconvolution}},
          {"nn.conv3d", conv},
          {op_names::kDense, {.lower = dense_layer, .types = Types::kProduct}},
          {"nn.global_avg_pool2d", average},
          {"nn.global_max_pool2d", maximum},
          {"nn.matmul", {.lower = matmul, .types = Types::kProduct}},
          {"nn.max_pool1d", maximum},
          {"nn.max_pool2d", maximum},
          {"nn.max_pool3d", maximum}};
}

}  // namespace baton::dnnl_blob
