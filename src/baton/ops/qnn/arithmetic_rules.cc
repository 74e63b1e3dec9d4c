#include "baton/ops/qnn/arithmetic_rules.h"

#include <algorithm>
#include <cmath>

#include "baton/ops/qnn/requantize.h"

namespace baton {

namespace {

using namespace qnn;

const TensorTypeNode& tensor_of(const Type& type) { return *as_type<TensorTypeNode>(type); }

Pair pair_at(const CallNode& call, size_t scale) { return {call.args()[scale], call.args()[scale + 1]}; }

std::vector<Type> pair_types(const std::vector<Type>& types, size_t scale) {
  return {types[scale], types[scale + 1]};
}

bool same_pair(const Pair& a, const Pair& b) {
  return same_scalar(a.scale, b.scale) && same_scalar(a.zero_point, b.zero_point);
}

Expr narrowed(const Expr& x, DType dtype) { return cast_to(clip_to(x, dtype), dtype); }

// ---- Sums: both operands under the scale and zero point of the result, in int32.

Expr as_result(const CallNode& call, const std::vector<Type>& types, size_t index, const char* axis,
               const LegalizeTarget& target) {
  const Expr& x = call.args()[index];
  const Pair from = pair_at(call, 2 + 2 * index), to = pair_at(call, 6);
  if (same_pair(from, to)) return cast_to(x, kInt32);
  return lower_requantize(x, tensor_of(types[index]), {from, to, int_attr(call, axis), kInt32}, target);
}

LegalizeRule::Rewrite sum_rewrite(const char* op) {
  return [op](const CallNode& call, const std::vector<Type>& types, const Type& type,
              const LegalizeTarget& target) -> Expr {
    const Expr lhs = as_result(call, types, 0, "lhs_axis", target),
               rhs = as_result(call, types, 1, "rhs_axis", target);
    const Expr& zero = call.args()[7];
    Expr sum = apply(op, {lhs, rhs});
    // Each operand brought the zero point along: a sum has it twice, a difference not at all.
    if (!is_scalar(zero, 0)) sum = apply(std::string_view(op) == "add" ? "subtract" : "add", {sum, zero});
    return narrowed(sum, tensor_of(type).dtype());
  };
}

// ---- Products: of the numbers without their zero points; the scales multiply too.

Expr without_zero_point(const Expr& x, const Type& type, const Expr& zero, const Type& zero_type,
                        int64_t axis) {
  const Expr wide = cast_to(x, kInt32);
  return is_scalar(zero, 0) ? wide : subtract(wide, spread(zero, zero_type, tensor_of(type).rank(), axis));
}

Expr canonicalize_mul(const CallNode& call, const std::vector<Type>& types, const Type& type,
                      const LegalizeTarget& target) {
  const auto& args = call.args();
  const int64_t axes[] = {int_attr(call, "lhs_axis"), int_attr(call, "rhs_axis")};
  const Expr product = multiply(without_zero_point(args[0], types[0], args[3], types[3], axes[0]),
                                without_zero_point(args[1], types[1], args[5], types[5], axes[1]));
  const auto a = constant_values(args[2]), b = constant_values(args[4]);
  const bool a_vector = tensor_of(types[2]).rank() == 1, b_vector = tensor_of(types[4]).rank() == 1;
  Expr scale;
  if (a && b) {
    std::vector<double> scales(std::max(a->size(), b->size()));
    for (size_t i = 0; i < scales.size(); ++i)
      scales[i] = static_cast<float>(a->at(a_vector ? i : 0)) * static_cast<float>(b->at(b_vector ? i : 0));
    scale = a_vector || b_vector ? constant_vector(scales, kFloat32) : Expr(scalar(scales[0], kFloat32));
  } else {
    scale = multiply(args[2], args[4]);
  }
  const auto& result = tensor_of(type);
  const int64_t axis = channel_axis(axes[a_vector ? 0 : 1], tensor_of(types[a_vector ? 0 : 1]).rank()) -
                       tensor_of(types[a_vector ? 0 : 1]).rank();
  return lower_requantize(product, *as_type<TensorTypeNode>(tensor_type(result.shape(), kInt32)),
                          {{scale, int32_scalar(0)}, pair_at(call, 6), axis, result.dtype()}, target);
}

// ---- Concatenation: each field under the scale and zero point of the result.

Expr canonicalize_concatenate(const CallNode& call, const std::vector<Type>& types, const Type& type,
                              const LegalizeTarget& target) {
  const auto* data = as_type<TupleTypeNode>(types[0]);
  const DType dtype = tensor_of(type).dtype();
  const Pair to = pair_at(call, 3);
  const auto field = [](const Expr& fields, size_t i) {
    const auto* made = as<TupleNode>(fields);
    return made ? made->fields()[i] : get_item(fields, static_cast<int>(i));
  };
  std::vector<Expr> fields;
  for (size_t i = 0; i < data->fields().size(); ++i) {
    const Expr x = field(call.args()[0], i);
    const Pair from = {field(call.args()[1], i), field(call.args()[2], i)};
    fields.push_back(same_pair(from, to)
                         ? x
                         : lower_requantize(x, tensor_of(data->fields()[i]), {from, to, -1, dtype}, target));
  }
  return apply_like("concatenate", {tuple(fields)}, call);
}

// ---- Functions of one tensor.

Expr through_float32(const CallNode& call, const std::vector<Type>& types, const Type& type,
                     Expr (*function)(const Expr&)) {
  const Expr x =
      lower_dequantize(call.args()[0], tensor_of(types[0]), pair_at(call, 1), pair_types(types, 1), -1);
  return lower_quantize(function(x), tensor_of(type), pair_at(call, 3), pair_types(types, 3), -1,
                        tensor_of(type).dtype());
}

template <class Element>
NDArray table_of(DType dtype, const Pair& from, const Pair& to, double (*value)(double)) {
  NDArray table = NDArray::empty({256}, dtype);
  const auto in_scale = static_cast<float>(*scalar_value(from.scale)),
             out_scale = static_cast<float>(*scalar_value(to.scale));
  const double in_zero = *scalar_value(from.zero_point), out_zero = *scalar_value(to.zero_point);
  const double least = dtype.is_uint() ? 0 : -128, most = least + 255;
  for (int bits = 0; bits < 256; ++bits) {
    const double number = dtype.is_uint() ? bits : static_cast<double>(static_cast<int8_t>(bits));
    const auto x = static_cast<float>((number - in_zero) * in_scale);
    const auto y = static_cast<float>(value(x));
    double result = std::nearbyint(y / out_scale) + out_zero;
    if (std::isnan(result)) result = 0;
    table.as<Element>()[bits] = static_cast<Element>(std::clamp(result, least, most));
  }
  return table;
}

Expr through_table(const CallNode& call, const Type& type, double (*value)(double)) {
  const Pair from = pair_at(call, 1), to = pair_at(call, 3);
  for (const Expr& member : {from.scale, from.zero_point, to.scale, to.zero_point})
    if (!scalar_value(member)) return {};
  const DType dtype = tensor_of(type).dtype();
  if (dtype.bits != 8) return {};
  const NDArray table =
      dtype.is_uint() ? table_of<uint8_t>(dtype, from, to, value) : table_of<int8_t>(dtype, from, to, value);
  const Expr index =
      dtype.is_uint() ? call.args()[0] : apply("reinterpret", {call.args()[0]}, {{"dtype", DType::uint_(8)}});
  return apply("take", {constant(table), index}, {{"axis", 0}, {"mode", "fast"}});
}

// alpha * x below zero, else x, each with a scale of its own.
Expr canonicalize_leaky_relu(const CallNode& call, const std::vector<Type>& types, const Type& type,
                             const LegalizeTarget& target) {
  const Expr& x = call.args()[0];
  const Pair from = pair_at(call, 1), to = pair_at(call, 3);
  const double alpha = float_attr(call, "alpha");
  const auto known = scalar_value(from.scale);
  const Expr below_scale =
      known ? Expr(scalar(*known * alpha, kFloat32)) : multiply(from.scale, scalar(alpha, kFloat32));
  const auto& data = tensor_of(types[0]);
  const Expr above = lower_requantize(x, data, {from, to, -1, kInt32}, target);
  const Expr below = lower_requantize(x, data, {{below_scale, from.zero_point}, to, -1, kInt32}, target);
  const Expr negative = apply("less", {cast_to(x, kInt32), from.zero_point});
  return narrowed(apply("where", {negative, below, above}), tensor_of(type).dtype());
}

}  // namespace

LegalizeRule quantize_rule() {
  return {{},
          {},
          [](const CallNode& call, const std::vector<Type>& types, const Type& type, const LegalizeTarget&) {
            return lower_quantize(call.args()[0], tensor_of(types[0]), pair_at(call, 1), pair_types(types, 1),
                                  int_attr(call, "axis"), tensor_of(type).dtype());
          }};
}

LegalizeRule dequantize_rule() {
  return {
      {}, {}, [](const CallNode& call, const std::vector<Type>& types, const Type&, const LegalizeTarget&) {
        return lower_dequantize(call.args()[0], tensor_of(types[0]), pair_at(call, 1), pair_types(types, 1),
                                int_attr(call, "axis"));
      }};
}

LegalizeRule requantize_rule() {
  return {{},
          {},
          [](const CallNode& call, const std::vector<Type>& types, const Type& type,
             const LegalizeTarget& target) {
            return lower_requantize(
                call.args()[0], tensor_of(types[0]),
                {pair_at(call, 1), pair_at(call, 3), int_attr(call, "axis"), tensor_of(type).dtype(),
                 text_attr(call, "rounding"), text_attr(call, "compute_dtype")},
                target);
          }};
}

LegalizeRule quantized_sum_rule(const char* op) { return {{}, {}, sum_rewrite(op)}; }
LegalizeRule quantized_mul_rule() { return {{}, {}, canonicalize_mul}; }
LegalizeRule quantized_concatenate_rule() { return {{}, {}, canonicalize_concatenate}; }
LegalizeRule quantized_leaky_relu_rule() { return {{}, {}, canonicalize_leaky_relu}; }

LegalizeRule quantized_function_rule(Expr (*in_float32)(const Expr& x), double (*value)(double x)) {
  return {{},
          [value](const CallNode& call, const std::vector<Type>&, const Type& type, const LegalizeTarget&) {
            return through_table(call, type, value);
          },
          [in_float32](const CallNode& call, const std::vector<Type>& types, const Type& type,
                       const LegalizeTarget&) { return through_float32(call, types, type, in_float32); }};
}

}  // namespace baton
