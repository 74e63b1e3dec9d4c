#pragma once
// Operations whose IEEE 754 form Halide does not have, or defines otherwise. Kernels are compiled with
// Halide's strict_float: what is written is computed, comparisons of NaN included.
#include <cmath>

#include <Halide.h>

namespace baton {

/// Whether a product and a sum are one instruction with one rounding in the kernels that this thread defines
/// while the scope lives: where that makes functions of operators shorter, and never where it is not so.
class FusedMultiplyAdd {
 public:
  explicit FusedMultiplyAdd(bool used);
  ~FusedMultiplyAdd();
  FusedMultiplyAdd(const FusedMultiplyAdd&) = delete;
  FusedMultiplyAdd& operator=(const FusedMultiplyAdd&) = delete;
  static bool is_used();

 private:
  bool outer_;
};

/// Whether it is one number at compile time, and not NaN.
inline bool is_known_number(const Halide::Expr& x) {
  const auto value = Halide::Internal::as_const_float(x);
  return value && !std::isnan(*value);
}

/// `a` where `holds(a, b)` says so, else `b`; NaN where either is NaN, for which each comparison fails: the
/// two orders then select different operands, and the bits of NaN and any other number are those of a NaN.
/// Twice as fast as asking whether an operand is NaN.
template <class Holds>
Halide::Expr chosen_or_nan(const Halide::Expr& a, const Halide::Expr& b, Holds&& holds) {
  const Halide::Type word = a.type().with_code(Halide::Type::UInt);
  return reinterpret(
      a.type(), reinterpret(word, select(holds(a, b), a, b)) | reinterpret(word, select(holds(b, a), b, a)));
}

/// The larger one; NaN where either is NaN, as numpy's maximum and IEEE 754's. Halide's max() is the second
/// operand for NaN on processors, and undefined on GPUs. An operand that is known to be a number costs
/// nothing: one instruction.
inline Halide::Expr ieee_maximum(const Halide::Expr& a, const Halide::Expr& b) {
  if (!a.type().is_float()) return Halide::max(a, b);
  if (is_known_number(a)) return select(a > b, a, b);
  if (is_known_number(b)) return select(b > a, b, a);
  return chosen_or_nan(a, b, [](const Halide::Expr& p, const Halide::Expr& q) { return p > q; });
}

/// The smaller one; NaN where either is NaN.
inline Halide::Expr ieee_minimum(const Halide::Expr& a, const Halide::Expr& b) {
  if (!a.type().is_float()) return Halide::min(a, b);
  if (is_known_number(a)) return select(a < b, a, b);
  if (is_known_number(b)) return select(b < a, b, a);
  return chosen_or_nan(a, b, [](const Halide::Expr& p, const Halide::Expr& q) { return p < q; });
}

/// Extrema over many elements, in any order and in parts: integers in the order of the floats (float32 or
/// float64), where NaN is beyond all numbers on the side of the extremum. Halide takes a maximum of floats
/// apart and joins its parts by one that may lose NaN.
struct OrderKey {
  bool largest;  ///< else the smallest

  static Halide::Expr turned(const Halide::Expr& bits) {
    const int width = bits.type().bits();
    return bits ^ ((bits >> (width - 1)) & bits.type().max());
  }
  static Halide::Type type_of(Halide::Type real) { return real.is_float() ? Halide::Int(real.bits()) : real; }

  Halide::Expr of(const Halide::Expr& x) const {
    if (!x.type().is_float()) return x;
    const Halide::Type key = type_of(x.type());
    return select(x != x, largest ? key.max() : key.min(), turned(reinterpret(key, x)));
  }
  /// The key of -inf, from which a largest element is searched, or of inf.
  Halide::Expr start(Halide::Type real) const {
    const Halide::Type key = type_of(real);
    if (!real.is_float()) return largest ? key.min() : key.max();
    const int64_t infinity = real.bits() == 64 ? 0x7ff0000000000000 : 0x7f800000;
    return Halide::Internal::make_const(key, largest ? -infinity - 1 : infinity);
  }
  Halide::Expr better(const Halide::Expr& a, const Halide::Expr& b) const {
    return largest ? max(a, b) : min(a, b);
  }
  static Halide::Expr value(const Halide::Expr& key, Halide::Type real) {
    return real.is_float() ? reinterpret(real, turned(key)) : key;
  }
};

/// a <= b; false for NaN, for which Halide's <= under strict_float is true: it is !(b < a).
inline Halide::Expr at_most(const Halide::Expr& a, const Halide::Expr& b) {
  return a.type().is_float() ? a < b || a == b : a <= b;
}

/// Whether `a` sorts before `b`: NaN is behind all numbers, as in numpy.
inline Halide::Expr sorts_before(const Halide::Expr& a, const Halide::Expr& b) {
  if (!a.type().is_float()) return a < b;
  return a < b || (a == a && b != b);
}

/// A float64 as float32, rounded to an odd last bit where it is not exact (von Neumann rounding): a second
/// rounding, to a float of 16 bits, is then that of the float64. NaN stays NaN.
Halide::Expr to_odd_float(const Halide::Expr& value);

/// `value` with each product rounded by itself, in all precisions: a sum that takes a product is never one
/// rounding with it. For what decides between neighbouring integers or pixels: it must not depend on whether
/// a processor has fused multiply-adds, nor on the schedule. A product beyond the finite numbers is the
/// largest one.
Halide::Expr rounded_products(const Halide::Expr& value);

/// By its bits: to Halide, which joins equal constants of a kernel, 0.0 and -0.0 are equal.
inline Halide::Expr negative_zero(Halide::Type type) {
  const Halide::Type bits = type.with_code(Halide::Type::UInt);
  return reinterpret(type, Halide::Internal::make_const(bits, uint64_t{1} << (bits.bits() - 1)));
}

/// -x, also of zeros; Halide's is 0 - x.
inline Halide::Expr negated(const Halide::Expr& x) {
  return x.type().is_float() ? negative_zero(x.type()) - x : -x;
}

}  // namespace baton
