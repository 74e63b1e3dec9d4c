#include "baton/codegen/dnnl/quantized.h"

#include <algorithm>
#include <optional>

#include "baton/codegen/dnnl/operators.h"
#include "baton/ir/inspect.h"

namespace baton {

using namespace dnnl_blob;

namespace {

/// A quantised layer up to the rounding of its result, and what is added behind that.
struct QuantizedLayer {
  const CallNode* layer = nullptr;  ///< qnn.conv2d or qnn.dense; its weight is a constant
  NDArray bias;                     ///< int32, by channel; undefined: none
  int32_t data_zero = 0;
  std::vector<double> factors;  ///< of the sums, to units of the rounded result: one, or one by channel
  double zero = 0;              ///< the zero point of the rounded result
  double low = 0, high = 0;     ///< bounds of the rounded result, its zero point included
  /// The other operand of a qnn.add; null: none. The sum is
  /// round(own_factor * result + own_shift) + other_factor * other + shift.
  Expr other = {};
  double own_factor = 1, own_shift = 0, other_factor = 0, shift = 0;
  double least = 0, most = 0;  ///< bounds of the result
};

constexpr const char* kLayers[] = {"conv2d", "dense"};

bool is_byte(DType type) { return type == DType::int_(8) || type == DType::uint_(8); }

/// The numbers of a constant of float32 or int32; empty for others.
std::vector<double> numbers_of(const Expr& value) {
  const auto* constant = as<ConstantNode>(value);
  if (!constant) return {};
  const NDArray& array = constant->value();
  if (array.dtype() == DType::float_(32)) {
    const auto all = array.as<float>();
    return {all.begin(), all.end()};
  }
  if (array.dtype() != DType::int_(32)) return {};
  const auto all = array.as<int32_t>();
  return {all.begin(), all.end()};
}

std::optional<double> number_of(const Expr& value) {
  const std::vector<double> all = numbers_of(value);
  return all.size() == 1 ? std::optional(all[0]) : std::nullopt;
}

/// Whether a zero point is none, for all channels.
bool is_zero(const Expr& value) {
  const std::vector<double> all = numbers_of(value);
  return !all.empty() && std::ranges::count(all, 0.0) == static_cast<ptrdiff_t>(all.size());
}

/// Scales and zero points at `first`, `first` + 1, ..: single numbers.
std::optional<std::vector<double>> single_numbers(const CallNode& call, size_t first) {
  std::vector<double> all;
  for (size_t i = first; i < call.args().size(); ++i) {
    const auto number = number_of(call.args()[i]);
    if (!number) return std::nullopt;
    all.push_back(*number);
  }
  return all;
}

const CallNode* layer_of(const Expr& value) {
  for (const char* name : kLayers)
    if (const CallNode* call = call_of(value, std::string("qnn.") + name)) return call;
  return nullptr;
}

int channel_axis(const CallNode& layer, int rank) {
  if (layer.op()->name == std::string("qnn.") + kLayers[1]) return rank - 1;
  return static_cast<int>(text_attr(layer, "data_layout").find('C'));
}

/// The layer below a bias, which is put into `found`.
const CallNode* below_bias(const Expr& value, QuantizedLayer& found) {
  if (const CallNode* layer = layer_of(value)) return layer;
  const auto* add = as<CallNode>(value);
  if (!add || !add->op() || add->args().size() != 2) return nullptr;
  const CallNode* layer = layer_of(add->args()[0]);
  const auto* bias = as<ConstantNode>(add->args()[1]);
  const TensorTypeNode* type = static_type_of(value);
  if (!layer || !bias || !type || bias->value().dtype() != DType::int_(32)) return nullptr;
  const int axis = channel_axis(*layer, type->rank());
  if (axis < 0 || axis >= type->rank() || bias->value().size() != type->extents()[static_cast<size_t>(axis)])
    return nullptr;
  const int behind = type->rank() - 1 - axis;
  const Shape& shape = bias->value().shape();
  const bool along = add->op()->name == "nn.bias_add"
                         ? front_axis(int_attr(*add, "axis"), type->rank()) == axis
                         : add->op()->name == "add" && bias->value().ndim() > behind &&
                               shape[shape.size() - 1 - static_cast<size_t>(behind)] == bias->value().size();
  if (!along) return nullptr;
  found.bias = bias->value();
  return layer;
}

bool read_layer(const CallNode& requantize, QuantizedLayer& found) {
  const CallNode* layer = below_bias(requantize.args()[0], found);
  const TensorTypeNode* sums = layer ? static_type_of(Expr(layer)) : nullptr;
  const TensorTypeNode* result = static_type_of(Expr(&requantize));
  if (!sums || !result || sums->dtype() != DType::int_(32) || !is_byte(result->dtype())) return false;
  const TensorTypeNode* data = static_type_of(layer->args()[0]);
  const auto* weight = as<ConstantNode>(layer->args()[1]);
  if (!data || !is_byte(data->dtype()) || !weight || weight->value().dtype() != DType::int_(8)) return false;
  if (std::ranges::count(sums->extents(), 0) != 0) return false;
  const auto data_zero = number_of(layer->args()[2]);
  const std::vector<double> scales = numbers_of(requantize.args()[1]);
  const auto scale = number_of(requantize.args()[3]), zero = number_of(requantize.args()[4]);
  if (!data_zero || !is_zero(layer->args()[3]) || !is_zero(requantize.args()[2]) || !scale || !zero ||
      scales.empty())
    return false;
  const int axis = channel_axis(*layer, sums->rank());
  if (axis < 0 || axis >= sums->rank()) return false;
  if (scales.size() != 1 &&
      (front_axis(int_attr(requantize, "axis"), sums->rank()) != axis ||
       static_cast<int64_t>(scales.size()) != sums->extents()[static_cast<size_t>(axis)]))
    return false;
  found.layer = layer;
  found.data_zero = static_cast<int32_t>(*data_zero);
  for (const double each : scales) found.factors.push_back(each / *scale);
  found.zero = *zero;
  found.low = result->dtype() == DType::int_(8) ? -128 : 0;
  found.high = found.low + 255;
  return true;
}

/// The layer that `root` rounds; null when it is no such expression. `root`: typed.
std::optional<QuantizedLayer> quantized_layer(const Expr& root) {
  QuantizedLayer found;
  const TensorTypeNode* type = static_type_of(root);
  if (!type || !is_byte(type->dtype())) return std::nullopt;
  found.least = type->dtype() == DType::int_(8) ? -128 : 0;
  found.most = found.least + 255;
  Expr value = root;
  if (const CallNode* clip = call_of(value, "clip")) {
    found.least = std::max(found.least, float_attr(*clip, "a_min"));
    found.most = std::min(found.most, float_attr(*clip, "a_max"));
    value = clip->args()[0];
  }
  const CallNode* sum = call_of(value, "qnn.add");
  const CallNode* requantize = call_of(sum ? sum->args()[0] : value, "qnn.requantize");
  if (!requantize || !read_layer(*requantize, found)) return std::nullopt;
  if (!sum) return found;
  // lhs_scale, lhs_zero_point, rhs_scale, rhs_zero_point, output_scale, output_zero_point
  const auto numbers = single_numbers(*sum, 2);
  const TensorTypeNode* other = static_type_of(sum->args()[1]);
  if (!numbers || !other || other->dtype() != type->dtype() || other->extents() != type->extents())
    return std::nullopt;
  found.other = sum->args()[1];
  found.own_factor = (*numbers)[0] / (*numbers)[4], found.other_factor = (*numbers)[2] / (*numbers)[4];
  found.own_shift = -(*numbers)[1] * found.own_factor;
  found.shift = (*numbers)[5] - (*numbers)[3] * found.other_factor;
  return found;
}

// ---- A layer of bytes whose result is rounded to bytes, as post-operations of one primitive.

PostOp on_elements(Algorithm algorithm, double alpha = 0, double beta = 0) {
  return {PostKind::kEltwise, algorithm, alpha, beta, {}};
}

/// Gives the step the bias and the factors of its `channels`: sums are rounded to the layer's own units, with
/// its zero point.
void add_rounding(RegionWriter& writer, const QuantizedLayer& layer, int64_t channels) {
  std::vector<float> bias;
  for (size_t channel = 0; channel < static_cast<size_t>(channels); ++channel) {
    const int32_t sum = layer.bias ? layer.bias.as<int32_t>()[channel] : 0;
    const double factor = layer.factors[layer.factors.size() == 1 ? 0 : channel];
    bias.push_back(static_cast<float>(sum * factor + layer.zero));
  }
  const View added = writer.add_vector(bias);
  Step& step = writer.last_step();
  step.largest = 0;
  step.inputs.push_back(step.kind == StepKind::kMatmul ? View{added.tensor, {1, channels}, {channels, 1}}
                                                       : added);
  step.scales = {writer.add_vector({layer.factors.begin(), layer.factors.end()})};
  if (layer.data_zero) {
    const std::vector<int32_t> zero = {layer.data_zero};
    step.zeros = {writer.add_constant(NDArray::of<int32_t>({1}, zero, DType::int_(32)), {1})};
  }
}

/// Adds the other operand, a view in the order of the step's result. Both operands are rounded to units of
/// the sum, as qnn.add does: this one here, the other one, behind an integer, when the sum is.
void add_sum(Step& step, const QuantizedLayer& layer, const View& other) {
  step.posts.push_back(on_elements(Algorithm::kClip, layer.low, layer.high));
  step.posts.push_back(on_elements(Algorithm::kRound));
  if (layer.own_factor != 1) {
    step.posts.push_back(on_elements(Algorithm::kLinear, layer.own_factor, layer.own_shift));
    step.posts.push_back(on_elements(Algorithm::kRound));
    step.posts.push_back(on_elements(Algorithm::kLinear, 1, layer.shift));
  } else {
    step.posts.push_back(on_elements(Algorithm::kLinear, 1, layer.own_shift + layer.shift));
  }
  step.posts.push_back({PostKind::kSum, Algorithm::kAdd, layer.other_factor, 0, {other}});
}

}  // namespace

PatternTable dnnl_quantized_layers() {
  PatternTable table;
  const auto constants = [](std::vector<DFPattern> args, size_t count) {
    for (size_t i = 0; i < count; ++i) args.push_back(is_constant());
    return args;
  };
  for (const char* name : kLayers) {
    const auto rounded = [&] {
      const DFPattern layer = is_op(std::string("qnn.") + name)->call(constants({wildcard()}, 5));
      const DFPattern biased = layer | is_op("nn.bias_add")->call({layer, is_constant()}) |
                               is_op("add")->call({layer, is_constant()});
      return is_op("qnn.requantize")->call(constants({biased}, 4));
    };
    const auto clipped = [](const DFPattern& value) { return is_op("clip")->call({value}) | value; };
    const DFCheck check = [](const Expr& root) { return quantized_layer(root).has_value(); };
    table.push_back({std::string("dnnl.qnn.") + name + "_sum",
                     clipped(is_op("qnn.add")->call(constants({rounded(), wildcard()}, 6))), check});
    table.push_back({std::string("dnnl.qnn.") + name, clipped(rounded()), check});
  }
  return table;
}

View lower_quantized_layer(RegionWriter& writer, const CallNode& call) {
  const auto& composite = *as<FunctionNode>(call.callee());
  const auto parts = quantized_layer(composite.body());
  if (!parts) refuse("is no quantised layer");
  for (size_t i = 0; i < composite.params().size(); ++i)
    writer.define(*composite.params()[i], writer.values_of(call.args()[i]));
  writer.define_value(parts->layer->args()[1]);
  const bool matmul = parts->layer->op()->name == "qnn.dense";
  const View value = matmul ? dense_layer(writer, *parts->layer) : convolution(writer, *parts->layer);
  if (matmul && !writer.is_whole(value)) refuse("has data of more than two axes");
  const ElementType type = *element_type(as_type<TensorTypeNode>(type_of(Expr(&call)))->dtype());
  writer.tensor(value.tensor).type = type;
  const Dims dims = writer.tensor(value.tensor).dims;
  add_rounding(writer, *parts, matmul ? dims.back() : dims[1]);
  Step& step = writer.last_step();
  if (parts->other)
    add_sum(step, *parts, permuted(writer.value_of(parts->other), writer.order_of_tensor(value.tensor)));
  const double low = type == ElementType::kInt8 ? -128 : 0;
  if (parts->least > low || parts->most < low + 255)
    step.posts.push_back(on_elements(Algorithm::kClip, parts->least, parts->most));
  return value;
}

}  // namespace baton
