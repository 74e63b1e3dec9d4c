#pragma once
// Short forms for lowering quantised operators, and for inspecting scales and zero points. Origins come from
// the open scope.
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/ir/inspect.h"

namespace baton::qnn {

using NamedAttrs = std::vector<std::pair<std::string, AttrValue>>;

inline constexpr DType kFloat32 = DType::float_(32), kInt8 = DType::int_(8), kUInt8 = DType::uint_(8),
                       kInt16 = DType::int_(16), kInt32 = DType::int_(32), kInt64 = DType::int_(64);

/// A call of `op` with the given attributes, the others at their defaults.
Expr apply(std::string_view op, std::vector<Expr> args, const NamedAttrs& attrs = {});
/// A call of `op` with the attributes it shares with `call`, then `changes`.
Expr apply_like(std::string_view op, std::vector<Expr> args, const CallNode& call,
                const NamedAttrs& changes = {});
Expr cast_to(const Expr& x, DType dtype);
inline Expr add(const Expr& a, const Expr& b) { return apply("add", {a, b}); }
inline Expr subtract(const Expr& a, const Expr& b) { return apply("subtract", {a, b}); }
inline Expr multiply(const Expr& a, const Expr& b) { return apply("multiply", {a, b}); }
inline Expr divide(const Expr& a, const Expr& b) { return apply("divide", {a, b}); }
/// Modulo 2^32, as kernels compute.
Expr int32_scalar(int64_t value);

/// Whether `expr` is the scalar constant `value`.
bool is_scalar(const Expr& expr, double value);
/// Whether both are scalar constants of equal value, or the same expression.
bool same_scalar(const Expr& a, const Expr& b);
/// The elements of a constant, row-major; nullopt for other expressions.
std::optional<std::vector<double>> constant_values(const Expr& expr);
Expr constant_vector(const std::vector<double>& values, DType dtype);
/// A constant of shape (size) and an integer type.
Expr integer_vector(const std::vector<int64_t>& values, DType dtype);

/// Whether a tensor of this type has axes, all of extent 1.
bool is_one_element(const TensorTypeNode& type);
/// A scale or zero point of type `type` as a scalar if it has one element, and as float32 if it is float64;
/// otherwise itself. Constants stay constants, and what is typed stays typed.
Expr plain_pair_member(const Expr& member, const TensorTypeNode& type);

/// A vector with one value per position along `axis` of a tensor of rank `rank`, reshaped to broadcast with
/// it.
Expr along_axis(const Expr& vector, int rank, int axis);
/// The same for a scale or zero point of type `type`; scalars are unchanged.
Expr spread(const Expr& pair_member, const Type& type, int rank, int64_t axis);
/// `axis` of a quantised tensor, normalized; 0 for a scalar.
int channel_axis(int64_t axis, int rank);

/// `x` clipped to the range of `dtype`.
Expr clip_to(const Expr& x, DType dtype);

}  // namespace baton::qnn
