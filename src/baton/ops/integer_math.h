#pragma once
// Arithmetic of integer tensors, which wraps as in numpy. Halide takes overflow of int32 and int64 as
// undefined: it refuses constants that overflow, and simplifies x + 1 > x to true. Positions are no such
// numbers; they are computed in plain int32.
#include <Halide.h>

namespace baton {

/// op(a, b) modulo 2^bits for integers, `op` being a sum, a difference or a product; op(a, b) for others.
template <class Op>
Halide::Expr wrapping(const Halide::Expr& a, const Halide::Expr& b, Op op) {
  const Halide::Type type = a.type();
  if (!type.is_int() || type.bits() < 32) return op(a, b);  // Halide lets the narrow ones wrap
  const Halide::Type word = type.with_code(Halide::Type::UInt);
  return cast(type, op(cast(word, a), cast(word, b)));
}
inline Halide::Expr wrapping_sum(const Halide::Expr& a, const Halide::Expr& b) {
  return wrapping(a, b, [](const Halide::Expr& x, const Halide::Expr& y) { return x + y; });
}
inline Halide::Expr wrapping_difference(const Halide::Expr& a, const Halide::Expr& b) {
  return wrapping(a, b, [](const Halide::Expr& x, const Halide::Expr& y) { return x - y; });
}
inline Halide::Expr wrapping_product(const Halide::Expr& a, const Halide::Expr& b) {
  return wrapping(a, b, [](const Halide::Expr& x, const Halide::Expr& y) { return x * y; });
}
/// -x; the least number stays itself.
inline Halide::Expr wrapping_negative(const Halide::Expr& x) {
  return x.type().is_int() ? wrapping_difference(Halide::Internal::make_zero(x.type()), x) : -x;
}

/// The quotient of signed integers by `divide`, which may assume that the divisor is not -1: the least number
/// divided by -1 does not fit, and stops processors.
template <class Divide>
Halide::Expr wrapping_quotient(const Halide::Expr& a, const Halide::Expr& b, Divide divide) {
  const Halide::Expr minus_one = Halide::Internal::make_const(b.type(), -1),
                     one = Halide::Internal::make_one(b.type());
  return select(b == minus_one, wrapping_negative(a), divide(a, select(b == minus_one, one, b)));
}

}  // namespace baton
