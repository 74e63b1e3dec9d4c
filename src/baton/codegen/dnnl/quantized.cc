#include "baton/codegen/dnnl/quantized.h"

#include <algorithm>

#include "baton/ir/inspect.h"

namespace baton {
namespace {

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

}  // namespace

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

}  // namespace baton
