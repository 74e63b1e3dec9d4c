#pragma once
// Helpers for computes. Included by .cc files of ops, schedule and codegen only.
#include <cmath>
#include <limits>
#include <vector>

#include "baton/ops/compute.h"
#include "baton/ops/ieee.h"

namespace baton {

using Index = std::vector<Halide::Expr>;

/// The index into `in` for an index of a broadcast result: right-aligned, 0 where `in` has extent 1.
inline Index broadcast_index(const Tensor& in, const Index& out) {
  Index index(out.end() - in.rank(), out.end());
  for (int axis = 0; axis < in.rank(); ++axis)
    if (in.dim(axis) == 1) index[axis] = 0;
  return index;
}
inline Halide::Expr broadcast_at(const Tensor& in, const Index& out) { return in(broadcast_index(in, out)); }

/// From float64 to a float of 16 bits: by float32, as there are no instructions for it.
/// To bool: whether it is not 0. Halide would take the lowest bit of a constant.
/// From a float to a signed integer: 0.0 is told apart, as a barrier. Halide leaves out the inner one of two
/// casts to integers, also where that one is from a float: of uint32(int32(-3.0f)), as sums that wrap have
/// it, would remain uint32(-3.0f), which is undefined.
inline Halide::Expr cast_to(DType dtype, const Halide::Expr& value) {
  const Halide::Type from = value.type(), type = halide_type(dtype);
  if (dtype.is_bool() && !from.is_bool()) return value != Halide::Internal::make_zero(from);
  if (from == Halide::Float(64) && type.is_float() && type.bits() == 16)
    return Halide::cast(type, to_odd_float(value));
  const Halide::Expr number = Halide::cast(type, value);
  if (!from.is_float() || !type.is_int() || type.bits() < 16) return number;
  const Halide::Type word = from.with_code(Halide::Type::UInt);
  return select(Halide::reinterpret(word, value) == Halide::Internal::make_zero(word),
                Halide::Internal::make_zero(type), number);
}
/// A float32 or float64 as `type`. Integers saturate, and NaN is 0: what a plain cast makes of values that do
/// not fit (the logarithm of 0) differs between processors and code generators. Products are rounded by
/// themselves: which multiplications and additions a schedule fuses would decide between 7 and just below it,
/// thus between the integers 7 and 6.
inline Halide::Expr from_real(Halide::Type type, const Halide::Expr& computed) {
  if (type.is_float()) return cast(type, computed);
  const Halide::Expr value = rounded_products(computed);
  const bool wide = value.type().bits() == 64;
  const Halide::Type word = Halide::UInt(wide ? 64 : 32);
  const auto bits_of = [&](const Halide::Expr& real) { return Halide::reinterpret(word, real); };
  const Halide::Expr magnitude = bits_of(value) & (word.max() >> 1),
                     infinity = bits_of(Halide::Internal::make_const(value.type(), INFINITY));
  if (type.is_bool()) return magnitude != Halide::Internal::make_zero(word);
  const int bits = type.bits() - (type.is_int() ? 1 : 0);
  const double end = std::ldexp(1.0, bits);  // the first that does not fit
  const double below = wide ? std::nextafter(end, 0.0) : std::nextafter(static_cast<float>(end), 0.0f);
  const double most = bits > (wide ? 53 : 24) ? below : end - 1, least = type.is_int() ? -end : 0.0;
  const auto real = [&](double number) { return Halide::Internal::make_const(value.type(), number); };
  return select(magnitude > infinity, Halide::Internal::make_zero(type),
                cast(type, clamp(value, real(least), real(most))));
}
inline Halide::Expr constant_of(DType dtype, double value) {
  return Halide::Internal::make_const(halide_type(dtype), value);
}

/// An extent as a float64.
inline Halide::Expr real_of(Dim dim) {
  return dim.is_symbolic() ? cast<double>(as_expr(dim)) : Halide::Expr(static_cast<double>(dim.value()));
}

/// The same as a float32.
inline Halide::Expr float_of(Dim dim) {
  return dim.is_symbolic() ? cast<float>(as_expr(dim)) : Halide::Expr(static_cast<float>(dim.value()));
}

/// The identity elements of max and min for a type: -inf and inf for floats.
inline Halide::Expr lowest(Halide::Type type) {
  return type.is_float() ? cast(type, Halide::Expr(-INFINITY)) : type.min();
}
inline Halide::Expr highest(Halide::Type type) {
  return type.is_float() ? cast(type, Halide::Expr(INFINITY)) : type.max();
}

/// The least finite number of a type: the value of the padding of max pools, also where a window has nothing
/// else.
inline Halide::Expr least_finite(Halide::Type type) {
  if (!type.is_float()) return type.min();
  if (type.is_bfloat()) return Halide::reinterpret(type, Halide::Expr(uint16_t{0xFF7F}));
  return Halide::Internal::make_const(type, type.bits() == 16   ? -65504.0
                                            : type.bits() == 32 ? -std::numeric_limits<float>::max()
                                                                : -std::numeric_limits<double>::max());
}

/// The accumulation type for values of `dtype`: float32 for the 16-bit floats.
inline Halide::Type sum_type(DType dtype) {
  const Halide::Type type = halide_type(dtype);
  return type.is_float() && type.bits() < 32 ? Halide::Float(32) : type;
}

/// a / b, of integers rounded toward zero as by Relay's operators; Halide rounds down. b >= 0: the mean of
/// nothing is NaN, and of integers 0.
inline Halide::Expr divide_toward_zero(const Halide::Expr& a, const Halide::Expr& b) {
  if (Halide::Internal::is_const_zero(b))  // such quotients are undefined to Halide
    return a.type().is_float() ? cast(a.type(), Halide::Expr(NAN)) : Halide::Internal::make_zero(a.type());
  return a.type().is_int() ? select(a < 0, -(-a / b), a / b) : a / b;
}

/// Copies `from` to stage "out", the last stage of a reducing operator. Free where a template schedules it:
/// the copy is computed in place of the store, together with fused elementwise operators.
inline Halide::Func copy_stage(Compute& c, const Halide::Func& from) {
  Halide::Func out = c.stage("out");
  const Axes i(from.dimensions());
  const std::vector<Halide::Var> at = i.reversed();
  out(at) = from(std::vector<Halide::Expr>(at.begin(), at.end()));
  return out;
}

}  // namespace baton
