#include "baton/codegen/dnnl/layer_norm.h"

#include <algorithm>
#include <optional>

#include "baton/codegen/dnnl/operators.h"
#include "baton/ir/inspect.h"

namespace baton {

using namespace dnnl_blob;

namespace {

/// The operands of a normalisation.
struct LayerNormParts {
  Expr data, gamma, beta;
  double epsilon = 0;
};

std::optional<double> scalar_of(const Expr& value) {
  const auto* constant = as<ConstantNode>(value);
  if (!constant || constant->value().size() != 1 || constant->value().dtype() != DType::float_(32))
    return std::nullopt;
  return constant->value().as<float>()[0];
}

/// Whether a reduction goes over the last axis and keeps it.
bool reduces_last(const CallNode& reduction) {
  const TensorTypeNode* data = static_type_of(reduction.args()[0]);
  const std::vector<int64_t> axes = ints_attr(reduction, "axis");
  return data && data->rank() > 0 && axes.size() == 1 &&
         front_axis(axes[0], data->rank()) == data->rank() - 1 && bool_attr(reduction, "keepdims") &&
         !bool_attr(reduction, "exclude");
}

const CallNode* mean_of(const Expr& value, const Expr& of) {
  const CallNode* mean = call_of(value, "mean");
  return mean && mean->args()[0] == of && reduces_last(*mean) ? mean : nullptr;
}

bool is_square_of(const Expr& value, const Expr& of) {
  if (const CallNode* power = call_of(value, "power"))
    return power->args()[0] == of && scalar_of(power->args()[1]) == 2.0;
  const CallNode* product = call_of(value, "multiply");
  return product && product->args()[0] == of && product->args()[1] == of;
}

/// `value` is the variance of `data` over the last axis; `centered`: data - mean.
bool is_variance(const Expr& value, const Expr& data, const Expr& mean, const Expr& centered) {
  if (const CallNode* variance = call_of(value, "variance"))
    return variance->args()[0] == data && variance->args()[1] == mean && reduces_last(*variance) &&
           !bool_attr(*variance, "unbiased");
  const CallNode* squares = call_of(value, "mean");
  return squares && reduces_last(*squares) && is_square_of(squares->args()[0], centered);
}

/// (data - mean) / sqrt(variance + epsilon): the data and epsilon.
std::optional<LayerNormParts> standardised(const Expr& centered, const Expr& spread) {
  const CallNode* difference = call_of(centered, "subtract");
  const CallNode* sum = call_of(spread, "add");
  if (!difference || !sum) return std::nullopt;
  const Expr &data = difference->args()[0], &mean = difference->args()[1];
  if (!mean_of(mean, data)) return std::nullopt;
  for (const int side : {0, 1}) {
    const auto epsilon = scalar_of(sum->args()[side]);
    if (epsilon && is_variance(sum->args()[1 - side], data, mean, centered))
      return LayerNormParts{data, {}, {}, *epsilon};
  }
  return std::nullopt;
}

std::optional<LayerNormParts> standardised(const Expr& value) {
  if (const CallNode* divide = call_of(value, "divide")) {
    const CallNode* root = call_of(divide->args()[1], "sqrt");
    return root ? standardised(divide->args()[0], root->args()[0]) : std::nullopt;
  }
  const CallNode* product = call_of(value, "multiply");
  if (!product) return std::nullopt;
  for (const int side : {0, 1})
    if (const CallNode* root = call_of(product->args()[side], "rsqrt"))
      if (const auto parts = standardised(product->args()[1 - side], root->args()[0])) return parts;
  return std::nullopt;
}

bool is_empty(const TensorTypeNode& type) { return std::ranges::count(type.extents(), 0) != 0; }

/// Whether `value` is one number for each element of the last axis of `data`.
bool is_along_last(const Expr& value, const TensorTypeNode& data) {
  const TensorTypeNode* type = static_type_of(value);
  if (!type || type->rank() == 0 || type->rank() > data.rank() || type->dtype() != data.dtype()) return false;
  int64_t elements = 1;
  for (const int64_t extent : type->extents()) elements *= extent;
  return elements == data.extents().back() && type->extents().back() == elements;
}

/// What `root` normalises; null when it is no such expression. `root`: typed.
std::optional<LayerNormParts> layer_norm_parts(const Expr& root) {
  const CallNode* shifted = call_of(root, "add");
  if (!shifted) return std::nullopt;
  for (const int shift : {0, 1}) {
    const CallNode* scaled = call_of(shifted->args()[1 - shift], "multiply");
    if (!scaled) continue;
    for (const int scale : {0, 1}) {
      auto parts = standardised(scaled->args()[1 - scale]);
      if (!parts) continue;
      const TensorTypeNode* data = static_type_of(parts->data);
      parts->gamma = scaled->args()[scale], parts->beta = shifted->args()[shift];
      if (data && data->dtype() == DType::float_(32) && !is_empty(*data) &&
          is_along_last(parts->gamma, *data) && is_along_last(parts->beta, *data))
        return parts;
    }
  }
  return std::nullopt;
}

}  // namespace

CompositePattern dnnl_layer_norm() {
  const auto call = [](const char* op, std::vector<DFPattern> args) {
    return is_op(op)->call(std::move(args));
  };
  const DFPattern data = wildcard(), mean = call("mean", {data}), centered = call("subtract", {data, mean});
  const DFPattern square = call("power", {centered, is_constant()}) | call("multiply", {centered, centered});
  const DFPattern variance = call("mean", {square}) | call("variance", {data, mean});
  const DFPattern spread = call("add", {variance, is_constant()});
  const DFPattern standard = call("divide", {centered, call("sqrt", {spread})}) |
                             call("multiply", {centered, call("rsqrt", {spread})});
  return {"dnnl.layer_norm", call("add", {call("multiply", {standard, wildcard()}), wildcard()}),
          [](const Expr& root) { return layer_norm_parts(root).has_value(); }};
}

View lower_layer_norm(RegionWriter& writer, const CallNode& call) {
  const auto& composite = *as<FunctionNode>(call.callee());
  const auto parts = layer_norm_parts(composite.body());
  if (!parts) refuse("is no normalisation of rows");
  const auto argument = [&](const Expr& param) {
    for (size_t i = 0; i < composite.params().size(); ++i)
      if (composite.params()[i].get() == param.get()) return writer.value_of(call.args()[i]);
    refuse("normalises what is computed inside of it");
  };
  const View value = argument(parts->data);
  const int64_t extent = value.dims.back();
  const auto vector = [&](const Expr& param) {
    return View{writer.dense(argument(param)).tensor, {extent}, {1}};
  };
  return standardised_rows(writer, value, extent, parts->epsilon,
                           {vector(parts->gamma), vector(parts->beta)});
}

}  // namespace baton
