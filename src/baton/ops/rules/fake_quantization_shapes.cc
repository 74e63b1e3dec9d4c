// Fake-quantization rules of data movement operators and of products.
#include "baton/ir/build.h"
#include "baton/ir/layout.h"
#include "baton/ops/rules/fake_quantization_rules.h"
#include "baton/ops/rules/qnn_build.h"

namespace baton {

using namespace qnn;

namespace {

using At = FakeQuantizedCall;
using Result = FakeQuantizedResult;

int typed_rank(const Expr& expr) { return tensor_type_of(expr)->rank(); }

Expr same_call(const At& at) {
  std::vector<Expr> args;
  for (const At::Arg& arg : at.args) args.push_back(arg.expr);
  return call_expr(at.call.callee(), std::move(args), at.call.attrs());
}

Result with_axis(const At& at, int axis) {
  AffineType type = *at.args[0].type;
  type.axis = axis;
  return AffineExpr{same_call(at), std::move(type)};
}

/// Whether the call is a pool whose windows lie within one channel of its quantisation per channel.
bool pools_beside_channels(const At& at) {
  if (!at.call.attrs() || !at.call.attrs()->schema().find("pool_size")) return false;
  const auto layout = Layout::parse(text_attr(at.call, "layout"));
  const int rank = typed_rank(at.call.args()[0]), axis = front_axis(at.args[0].type->axis, rank);
  if (!layout || layout->rank() != rank) return false;
  const char letter = layout->axes()[static_cast<size_t>(axis)].letter;
  return letter == 'C' || letter == 'N';
}

/// Elementwise a * b: the scale of a product.
Expr product_of_scales(const Expr& a, const Expr& b) {
  const auto x = constant_values(a), y = constant_values(b);
  if (!x || !y) return with_type(multiply(a, b), (typed_rank(a) > 0 ? a : b)->checked_type());
  const bool x_vector = !as<ConstantNode>(a)->is_scalar(), y_vector = !as<ConstantNode>(b)->is_scalar();
  std::vector<double> scales(std::max(x->size(), y->size()));
  for (size_t i = 0; i < scales.size(); ++i)
    scales[i] = static_cast<float>(x->at(x_vector ? i : 0)) * static_cast<float>(y->at(y_vector ? i : 0));
  if (x_vector || y_vector) return constant_vector(scales, kFloat32);
  return scalar(scales[0], kFloat32);
}

/// int32 zeros, as many as `scale` has values.
Expr zero_points_like(const Expr& scale) {
  const TensorTypeNode& type = *tensor_type_of(scale);
  if (type.rank() == 0) return int32_scalar(0);
  if (type.is_static()) return integer_vector(std::vector<int64_t>(type.extents()[0], 0), kInt32);
  const Expr zeros = with_type(apply("zeros_like", {scale}), scale->checked_type());
  return with_type(cast_to(zeros, kInt32), tensor_type(type.shape(), kInt32));
}

bool narrow(DType dtype) { return dtype == DType::int_(8) || dtype == DType::uint_(8); }

/// The quantised product `name`; `axis`: the channel axis of the result. The data has one scale; the weight
/// may have one per channel along `weight_axis`.
Result product(const At& at, const char* name, int axis, int weight_axis) {
  const auto& [data, data_type] = at.args[0];
  const auto& [weight, weight_type] = at.args[1];
  if (!data_type || !weight_type || data_type->per_channel()) return {};
  if (!narrow(weight_type->dtype) || !(narrow(data_type->dtype) || data_type->dtype == DType::int_(16)))
    return {};
  if (weight_type->per_channel() &&
      front_axis(weight_type->axis, typed_rank(at.call.args()[1])) != weight_axis)
    return {};
  // Groups may give the result more channels than the weight has along that axis.
  const auto* result = as_type<TensorTypeNode>(at.call.checked_type());
  if (weight_type->per_channel()) {
    const auto channels = channels_of(*weight_type);
    if (!channels || !result || !(result->shape()[axis] == Dim(*channels))) return {};
  }
  const Expr scale = product_of_scales(data_type->scale, weight_type->scale);
  const std::vector<Expr> args = {
      data, weight, data_type->zero_point, weight_type->zero_point, data_type->scale, weight_type->scale};
  const Expr made = apply_like(name, args, at.call, {{"out_dtype", kInt32}});
  return AffineExpr{made, {scale, zero_points_like(scale), kInt32, axis, {}}};
}

/// nn.pad also takes an integer for floats.
Expr float_padding(const Expr& constant) {
  const auto* known = as<ConstantNode>(constant);
  const auto number = scalar_value(constant);
  if (!known || !number || known->value().dtype() == kFloat32) return constant;
  const Expr number_as_float = scalar(*number, kFloat32);
  return constant->origins().empty() ? number_as_float : with_origins(number_as_float, constant->origins());
}

int position(const std::string& layout, char axis) { return static_cast<int>(layout.find(axis)); }

Result convolution(const At& at, const char* name) {
  const std::string data = text_attr(at.call, "data_layout"), out = text_attr(at.call, "out_layout"),
                    kernel = text_attr(at.call, "kernel_layout");
  const std::string& result = out.empty() ? data : out;
  if (result.size() != 4 || kernel.size() != 4) return {};
  return product(at, name, position(result, 'C'), position(kernel, 'O'));
}

}  // namespace

FakeQuantizedResult fake_quantized_conv2d(const FakeQuantizedCall& at) {
  return convolution(at, "qnn.conv2d");
}
FakeQuantizedResult fake_quantized_conv2d_transpose(const FakeQuantizedCall& at) {
  return convolution(at, "qnn.conv2d_transpose");
}

FakeQuantizedResult fake_quantized_dense(const FakeQuantizedCall& at) {
  return product(at, "qnn.dense", typed_rank(at.call.args()[0]) - 1, 0);
}

FakeQuantizedResult fake_quantized_batch_matmul(const FakeQuantizedCall& at) {
  if (at.args[1].type && at.args[1].type->per_channel()) return {};
  return product(at, "qnn.batch_matmul", at.args[0].type ? at.args[0].type->axis : -1, 0);
}

FakeQuantizedResult fake_quantized_same(const FakeQuantizedCall& at) {
  if (!at.args[0].type) return {};
  if (at.args[0].type->per_channel() && !pools_beside_channels(at))
    return {};  // other shapes may move or merge channels
  return with_axis(at, at.args[0].type->axis);
}

FakeQuantizedResult fake_quantized_reshape(const FakeQuantizedCall& at) {
  if (!at.args[0].type || at.args[0].type->per_channel()) return {};
  return with_axis(at, at.args[0].type->axis);
}

FakeQuantizedResult fake_quantized_topk(const FakeQuantizedCall& at) {
  if (!at.args[0].type || at.args[0].type->per_channel() || text_attr(at.call, "ret_type") != "values")
    return {};
  return with_axis(at, at.args[0].type->axis);
}

FakeQuantizedResult fake_quantized_transpose(const FakeQuantizedCall& at) {
  const auto& type = at.args[0].type;
  if (!type) return {};
  if (!type->per_channel()) return with_axis(at, type->axis);
  const int rank = typed_rank(at.call.args()[0]), axis = front_axis(type->axis, rank);
  const std::vector<int64_t> axes = ints_attr(at.call, "axes");
  if (axes.empty()) return with_axis(at, rank - 1 - axis);
  for (size_t i = 0; i < axes.size(); ++i)
    if (front_axis(axes[i], rank) == axis) return with_axis(at, static_cast<int>(i));
  return {};
}

FakeQuantizedResult fake_quantized_expand_dims(const FakeQuantizedCall& at) {
  const auto& type = at.args[0].type;
  if (!type) return {};
  if (!type->per_channel()) return with_axis(at, type->axis);
  const int rank = typed_rank(at.call.args()[0]), axis = front_axis(type->axis, rank);
  const int64_t given = int_attr(at.call, "axis"), added = int_attr(at.call, "num_newaxis");
  const int64_t before = given < 0 ? given + rank + 1 : given;
  return with_axis(at, before <= axis ? axis + static_cast<int>(added) : axis);
}

FakeQuantizedResult fake_quantized_strided_slice(const FakeQuantizedCall& at) {
  if (!at.args[0].type || at.args[0].type->per_channel()) return {};
  return with_axis(at, at.args[0].type->axis);
}

FakeQuantizedResult fake_quantized_pad(const FakeQuantizedCall& at) {
  const auto& [data, type] = at.args[0];
  const auto& [value, value_type] = at.args[1];
  if (!type || type->per_channel()) return {};
  const Expr padding = value_type
                           ? requantized(value, *value_type, *type)
                           : apply("qnn.quantize", {float_padding(value), type->scale, type->zero_point},
                                   {{"out_dtype", type->dtype}});
  return AffineExpr{call_expr(at.call.callee(), {data, padding}, at.call.attrs()), *type};
}

FakeQuantizedResult fake_quantized_split(const FakeQuantizedCall& at) {
  const auto& type = at.args[0].type;
  const auto* result = as_type<TupleTypeNode>(at.call.checked_type());
  if (!type || !result || type->per_channel()) return {};
  AffineType fields;
  fields.fields.assign(result->fields().size(), *type);
  return AffineExpr{same_call(at), std::move(fields)};
}

FakeQuantizedResult fake_quantized_concatenate(const FakeQuantizedCall& at) {
  const auto& type = at.args[0].type;
  if (!type || !type->is_tuple() || type->fields.empty() || !at.out || at.out->per_channel()) return {};
  std::vector<Expr> scales, zero_points;
  for (const AffineType& field : type->fields) {
    if (field.is_tuple() || field.per_channel() || field.dtype != type->fields[0].dtype) return {};
    scales.push_back(field.scale);
    zero_points.push_back(field.zero_point);
  }
  const auto out = with_dtype(*at.out, type->fields[0].dtype);
  if (!out) return {};
  return AffineExpr{
      apply_like("qnn.concatenate",
                 {at.args[0].expr, tuple(scales), tuple(zero_points), out->scale, out->zero_point}, at.call),
      *out};
}

}  // namespace baton
