#include "baton/ops/rules/qnn_build.h"

#include <algorithm>
#include <cmath>

#include "baton/ir/build.h"

namespace baton::qnn {

namespace {

const OpDef& op_named(std::string_view op) {
  const OpDef* def = find_op(op);
  if (!def) throw NotSupported("operator " + std::string(op) + " is needed here but not provided yet");
  return *def;
}

template <class T>
std::vector<double> widened(const NDArray& value) {
  const auto elements = value.as<T>();
  return {elements.begin(), elements.end()};
}

}  // namespace

Expr apply(std::string_view op, std::vector<Expr> args, const NamedAttrs& attrs) {
  const OpDef& def = op_named(op);
  return call_expr(op_expr(def), std::move(args), def.attrs ? make_attrs(*def.attrs, attrs) : Attrs());
}

Expr apply_like(std::string_view op, std::vector<Expr> args, const CallNode& call,
                const NamedAttrs& changes) {
  const OpDef& def = op_named(op);
  if (!def.attrs) return apply(op, std::move(args));
  NamedAttrs all;
  for (const AttrField& field : def.attrs->fields) {
    const auto changed = std::find_if(changes.begin(), changes.end(),
                                      [&](const auto& each) { return each.first == field.name; });
    if (changed != changes.end())
      all.push_back(*changed);
    else if (call.attrs() && call.attrs()->schema().find(field.name))
      all.emplace_back(field.name, call.attrs()->get(field.name));
  }
  return apply(op, std::move(args), all);
}

Expr cast_to(const Expr& x, DType dtype) { return apply("cast", {x}, {{"dtype", dtype}}); }

Expr int32_scalar(int64_t value) {
  return scalar(static_cast<double>(static_cast<int32_t>(static_cast<uint64_t>(value))), kInt32);
}

bool is_scalar(const Expr& expr, double value) { return scalar_value(expr) == value; }

bool same_scalar(const Expr& a, const Expr& b) {
  const std::optional<double> left = scalar_value(a);
  return left ? left == scalar_value(b) : a == b;
}

std::optional<std::vector<double>> constant_values(const Expr& expr) {
  const auto* constant = as<ConstantNode>(expr);
  if (!constant) return std::nullopt;
  const NDArray& value = constant->value();
  if (value.dtype() == kFloat32) return widened<float>(value);
  if (value.dtype() == DType::float_(64)) return widened<double>(value);
  if (value.dtype() == kInt32) return widened<int32_t>(value);
  if (value.dtype() == kInt64) return widened<int64_t>(value);
  return std::nullopt;
}

Expr constant_vector(const std::vector<double>& values, DType dtype) {
  NDArray array = NDArray::empty({static_cast<int64_t>(values.size())}, dtype);
  for (size_t i = 0; i < values.size(); ++i) {
    if (dtype == kFloat32)
      array.as<float>()[i] = static_cast<float>(values[i]);
    else
      array.as<double>()[i] = values[i];
  }
  return constant(array);
}

Expr integer_vector(const std::vector<int64_t>& values, DType dtype) {
  NDArray array = NDArray::empty({static_cast<int64_t>(values.size())}, dtype);
  for (size_t i = 0; i < values.size(); ++i) {
    if (dtype == kInt64)
      array.as<int64_t>()[i] = values[i];
    else
      array.as<int32_t>()[i] = static_cast<int32_t>(values[i]);
  }
  return constant(array);
}

bool is_one_element(const TensorTypeNode& type) {
  return type.rank() > 0 && std::ranges::all_of(type.shape(), [](const Dim& dim) { return dim == Dim(1); });
}

Expr plain_pair_member(const Expr& member, const TensorTypeNode& type) {
  const bool one = is_one_element(type), wide = type.dtype() == DType::float_(64);
  if (!one && !wide) return member;
  if (const auto* known = as<ConstantNode>(member)) {
    const auto values = constant_values(member);
    if (values && wide) {
      const Expr vector = constant_vector(*values, kFloat32);
      return one || type.rank() == 0 ? Expr(scalar(values->at(0), kFloat32)) : vector;
    }
    if (one) return constant(known->value().reshaped({}));
  }
  // Types go with the calls: whether a scale is per channel is read from them. A call over untyped operands
  // stays untyped, as inference does not look below typed ones.
  const DType dtype = wide ? kFloat32 : type.dtype();
  const auto typed = [&](const Expr& call, std::vector<Dim> shape) {
    return member->checked_type() ? with_type(call, tensor_type(std::move(shape), dtype)) : call;
  };
  const Expr narrow = wide ? typed(cast_to(member, kFloat32), type.shape()) : member;
  return one ? typed(apply("reshape", {narrow}, {{"newshape", std::vector<int64_t>{}}}), {}) : narrow;
}

Expr along_axis(const Expr& vector, int rank, int axis) {
  const int behind = rank - 1 - axis;
  return behind <= 0 ? vector : apply("expand_dims", {vector}, {{"axis", 1}, {"num_newaxis", behind}});
}

Expr spread(const Expr& pair_member, const Type& type, int rank, int64_t axis) {
  const auto* tensor = as_type<TensorTypeNode>(type);
  return tensor && tensor->rank() == 1 ? along_axis(pair_member, rank, channel_axis(axis, rank))
                                       : pair_member;
}

int channel_axis(int64_t axis, int rank) { return rank == 0 ? 0 : front_axis(axis, rank); }

Expr clip_to(const Expr& x, DType dtype) {
  const double range = std::ldexp(1.0, dtype.bits);
  const double least = dtype.is_uint() ? 0 : -range / 2;
  return apply("clip", {x}, {{"a_min", least}, {"a_max", least + range - 1}});
}

}  // namespace baton::qnn
