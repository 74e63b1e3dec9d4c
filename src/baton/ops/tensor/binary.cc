// Elementwise operators of two inputs, broadcast.
#include <optional>

#include "baton/ir/rules/algebra.h"
#include "baton/ir/rules/cost.h"
#include "baton/ir/rules/quantization_rule.h"
#include "baton/ops/integer_math.h"
#include "baton/ops/math.h"
#include "baton/ops/rules/fake_quantization_rules.h"
#include "baton/ops/rules/gradient_build.h"
#include "baton/ops/rules/scale_rules.h"
#include "baton/ops/shared/elementwise.h"

namespace baton {

namespace {

using Value = Halide::Expr;

Value is_true(const Value& x) { return x.type().is_bool() ? x : x != cast(x.type(), 0); }

// Halide rounds integer quotients down for a positive divisor, up for a negative one (the remainder is never
// negative).
Value floor_div(const Value& a, const Value& b) {
  if (a.type().is_uint()) return a / b;
  return wrapping_quotient(a, b, [](const Value& x, const Value& y) {
    return x / y - select(y < 0 && x % y != 0, cast(x.type(), 1), cast(x.type(), 0));
  });
}

Value trunc_div(const Value& a, const Value& b) {
  if (a.type().is_float() || a.type().is_uint()) return a / b;
  return wrapping_quotient(a, b, [](const Value& x, const Value& y) {
    const Value one = cast(x.type(), 1);
    return x / y + select(x < 0 && x % y != 0, select(y > 0, one, -one), cast(x.type(), 0));
  });
}

/// Halide's roundings of float16 give infinity for NaN; in float32 they are exact.
Value whole_quotient(const Value& a, const Value& b, Value (*rounded)(const Value&)) {
  const Value quotient = a / b;
  return a.type().bits() < 32 ? cast(a.type(), rounded(cast<float>(quotient))) : rounded(quotient);
}

// The C library's fmod: the rest is exact however large the quotient, which a - b * trunc(a / b) is not.
Value float_trunc_mod(const Value& a, const Value& b) {
  if (a.type().bits() < 32) return cast(a.type(), float_trunc_mod(cast<float>(a), cast<float>(b)));
  return Halide::Internal::Call::make(a.type(), a.type().bits() == 64 ? "fmod" : "fmodf", {a, b},
                                      Halide::Internal::Call::PureExtern);
}

Value trunc_mod(const Value& a, const Value& b) {
  if (a.type().is_float()) return float_trunc_mod(a, b);
  return wrapping_difference(a, wrapping_product(b, trunc_div(a, b)));
}

Value floor_mod(const Value& a, const Value& b) {
  if (!a.type().is_float()) return wrapping_difference(a, wrapping_product(b, floor_div(a, b)));
  const Value zero = Halide::Internal::make_zero(a.type());
  return with_value("mod_sign", b, [&](const Value& y) {
    return with_value("mod_trunc", float_trunc_mod(a, y), [&](const Value& rest) {
      return select(rest != zero && (rest < zero) != (y < zero), rest + y, rest);
    });
  });
}

// Halide fails on shifts of floats only when it simplifies them, without saying why.
const Value& shiftable(const Value& a) {
  if (a.type().is_int_or_uint()) return a;
  throw Halide::CompileError("only integers are shifted");
}

// The value of an operand that is a scalar constant.
std::optional<double> known_value(const Value& x) {
  const auto* call = x.as<Halide::Internal::Call>();
  if (!call || call->call_type != Halide::Internal::Call::Halide || !call->func.defined() ||
      !call->args.empty())
    return Halide::Internal::as_const_float(x);
  const Halide::Internal::Function func(call->func);
  if (!func.has_pure_definition() || func.has_update_definition() || func.values().size() != 1)
    return std::nullopt;
  return Halide::Internal::as_const_float(func.values()[0]);
}

// An operand that is a scalar constant as its number: an extremum with one that is no NaN is one instruction.
Value as_number(const Value& x) {
  const std::optional<double> value = x.type().is_float() ? known_value(x) : std::nullopt;
  return value ? Halide::Internal::make_const(x.type(), *value) : x;
}

Value power(const Value& a, const Value& b) {
  // Exact, and one instruction.
  if (a.type().is_float() && a.type().bits() >= 32 && known_value(b) == 2.0)
    return with_value("power_base", a, [](const Value& x) { return x * x; });
  if (a.type() == Halide::Float(32)) return vector_pow(a, b);
  if (a.type() == Halide::Float(64))
    return Halide::Internal::Call::make(a.type(), "pow", {a, b}, Halide::Internal::Call::PureExtern);
  if (a.type().is_float()) return cast(a.type(), power(cast<float>(a), cast<float>(b)));
  return from_real(a.type(), power(cast<double>(a), cast<double>(b)));
}

/// Shifts by no less than the number of bits, and by negative numbers, are undefined to processors: all bits
/// fall out, as in numpy.
Value shifted(const Value& a, const Value& b, bool left) {
  const Halide::Type type = a.type(), word = type.with_code(Halide::Type::UInt);
  const Value by = cast(word, b), last = Halide::Internal::make_const(word, type.bits() - 1);
  const Value bounded = cast(type, min(by, last));
  const Value inside = left ? cast(type, cast(word, a) << min(by, last)) : a >> bounded;
  if (!left && type.is_int()) return inside;  // the sign
  return select(by > last, Halide::Internal::make_zero(type), inside);
}

GradientRule add_gradient() {
  using namespace gradients;
  return {[](const Call& call, const Expr& g) {
    return Adjoints{collapse(g, call->args()[0]), collapse(g, call->args()[1])};
  }};
}

GradientRule subtract_gradient() {
  using namespace gradients;
  return {[](const Call& call, const Expr& g) {
    return Adjoints{collapse(g, call->args()[0]), collapse(neg(g), call->args()[1])};
  }};
}

GradientRule multiply_gradient() {
  using namespace gradients;
  return {[](const Call& call, const Expr& g) {
    const Expr &a = call->args()[0], &b = call->args()[1];
    return Adjoints{collapse(mul(g, b), a), collapse(mul(g, a), b)};
  }};
}

// d(a / b) = da / b - (a / b) * db / b
GradientRule divide_gradient() {
  using namespace gradients;
  return {[](const Call& call, const Expr& g) {
    const Expr &a = call->args()[0], &b = call->args()[1];
    return Adjoints{collapse(div(g, b), a), collapse(neg(div(mul(g, Expr(call)), b)), b)};
  }};
}

}  // namespace

const OpDef& op_add() {
  static const OpDef def = binary_op(
      "add", "lhs + rhs.", [](Value a, Value b) { return wrapping_sum(a, b); },
      op_rules(sum_scale_rule(), add_gradient(), MixedPrecision::kFollow,
               fake_quantized_arithmetic("qnn.add"), QuantizationRule{QuantizationRule::Does::kSum},
               Arithmetic::kSum));
  return def;
}

const OpDef& op_subtract() {
  static const OpDef def = binary_op(
      "subtract", "lhs - rhs.", [](Value a, Value b) { return wrapping_difference(a, b); },
      op_rules(sum_scale_rule(), subtract_gradient(), MixedPrecision::kFollow,
               fake_quantized_arithmetic("qnn.subtract"), Arithmetic::kDifference));
  return def;
}

const OpDef& op_multiply() {
  static const OpDef def = binary_op(
      "multiply", "lhs * rhs.", [](Value a, Value b) { return wrapping_product(a, b); },
      op_rules(multiply_gradient(), MixedPrecision::kFollow, fake_quantized_arithmetic("qnn.mul"),
               QuantizationRule{QuantizationRule::Does::kScale}, Arithmetic::kProduct));
  return def;
}

const OpDef& op_divide() {
  static const OpDef def = binary_op(
      "divide", "lhs / rhs; of integers rounded toward zero.",
      [](Value a, Value b) { return trunc_div(a, b); },
      op_rules(divide_gradient(), MixedPrecision::kFollow, Arithmetic::kQuotient, Transcendental{}));
  return def;
}

const OpDef& op_trunc_divide() {
  static const OpDef def = binary_op("trunc_divide", "lhs / rhs, rounded toward zero.", [](Value a, Value b) {
    return a.type().is_float() ? whole_quotient(a, b, [](const Value& x) { return trunc(x); })
                               : trunc_div(a, b);
  });
  return def;
}

const OpDef& op_floor_divide() {
  static const OpDef def = binary_op("floor_divide", "lhs / rhs, rounded down.", [](Value a, Value b) {
    return a.type().is_float() ? whole_quotient(a, b, [](const Value& x) { return floor(x); })
                               : floor_div(a, b);
  });
  return def;
}

const OpDef& op_mod() {
  static const OpDef def = binary_op("mod", "The remainder of divide: it has the sign of lhs.",
                                     [](Value a, Value b) { return trunc_mod(a, b); });
  return def;
}

const OpDef& op_trunc_mod() {
  static const OpDef def = binary_op("trunc_mod", "The remainder of trunc_divide: it has the sign of lhs.",
                                     [](Value a, Value b) { return trunc_mod(a, b); });
  return def;
}

const OpDef& op_floor_mod() {
  static const OpDef def = binary_op("floor_mod", "The remainder of floor_divide: it has the sign of rhs.",
                                     [](Value a, Value b) { return floor_mod(a, b); });
  return def;
}

const OpDef& op_power() {
  static const OpDef def = binary_op(
      "power", "lhs to the power rhs.", [](Value a, Value b) { return power(a, b); },
      op_rules(MixedPrecision::kNever, Transcendental{}));
  return def;
}

const OpDef& op_maximum() {
  static const OpDef def = binary_op(
      "maximum", "The larger one.", [](Value a, Value b) { return ieee_maximum(as_number(a), as_number(b)); },
      op_rules(MixedPrecision::kFollow, FakeQuantizationRule{fake_quantized_extremum}));
  return def;
}

const OpDef& op_minimum() {
  static const OpDef def = binary_op(
      "minimum", "The smaller one.",
      [](Value a, Value b) { return ieee_minimum(as_number(a), as_number(b)); },
      op_rules(MixedPrecision::kFollow, FakeQuantizationRule{fake_quantized_extremum}));
  return def;
}

const OpDef& op_left_shift() {
  static const OpDef def =
      binary_op("left_shift", "lhs * 2^rhs, bits falling out at the left.",
                [](Value a, Value b) { return shifted(shiftable(a), b, true); }, {},
                {"(3, 5)i32[0, 50], (5)i32[0, 5]", "(2, 1, 4)i8[0, 50], (3, 1)i8[0, 5]"});
  return def;
}

const OpDef& op_right_shift() {
  static const OpDef def =
      binary_op("right_shift", "lhs / 2^rhs, rounded down.",
                [](Value a, Value b) { return shifted(shiftable(a), b, false); }, {},
                {"(3, 5)i32[0, 50], (5)i32[0, 5]", "(2, 1, 4)i8[0, 50], (3, 1)i8[0, 5]"});
  return def;
}

const OpDef& op_bitwise_and() {
  static const OpDef def =
      binary_op("bitwise_and", "Bits set in both.", [](Value a, Value b) { return a & b; }, {},
                {"(3, 5)i32[0, 50], (5)i32[0, 5]", "(2, 1, 4)i8[0, 50], (3, 1)i8[0, 5]"});
  return def;
}

const OpDef& op_bitwise_or() {
  static const OpDef def =
      binary_op("bitwise_or", "Bits set in one of both.", [](Value a, Value b) { return a | b; }, {},
                {"(3, 5)i32[0, 50], (5)i32[0, 5]", "(2, 1, 4)i8[0, 50], (3, 1)i8[0, 5]"});
  return def;
}

const OpDef& op_bitwise_xor() {
  static const OpDef def =
      binary_op("bitwise_xor", "Bits set in exactly one.", [](Value a, Value b) { return a ^ b; }, {},
                {"(3, 5)i32[0, 50], (5)i32[0, 5]", "(2, 1, 4)i8[0, 50], (3, 1)i8[0, 5]"});
  return def;
}

const OpDef& op_equal() {
  static const OpDef def =
      compare_op("equal", "lhs == rhs.", [](Value a, Value b) { return a == b; }, op_rules(no_gradient()));
  return def;
}

const OpDef& op_not_equal() {
  static const OpDef def = compare_op(
      "not_equal", "lhs != rhs.", [](Value a, Value b) { return a != b; }, op_rules(no_gradient()));
  return def;
}

const OpDef& op_less() {
  static const OpDef def = compare_op(
      "less", "lhs < rhs.", [](Value a, Value b) { return a < b; },
      op_rules(no_gradient(), MixedPrecision::kFollow));
  return def;
}

const OpDef& op_less_equal() {
  static const OpDef def = compare_op(
      "less_equal", "lhs <= rhs.", [](Value a, Value b) { return at_most(a, b); },
      op_rules(no_gradient(), MixedPrecision::kFollow));
  return def;
}

const OpDef& op_greater() {
  static const OpDef def = compare_op(
      "greater", "lhs > rhs.", [](Value a, Value b) { return a > b; },
      op_rules(no_gradient(), MixedPrecision::kFollow));
  return def;
}

const OpDef& op_greater_equal() {
  static const OpDef def = compare_op(
      "greater_equal", "lhs >= rhs.", [](Value a, Value b) { return at_most(b, a); },
      op_rules(no_gradient(), MixedPrecision::kFollow));
  return def;
}

const OpDef& op_logical_and() {
  static const OpDef def =
      compare_op("logical_and", "lhs and rhs.", [](Value a, Value b) { return is_true(a) && is_true(b); },
                 op_rules(no_gradient()), {"(3, 5)bool, (5)bool", "()bool, (2, 3)bool"});
  return def;
}

const OpDef& op_logical_or() {
  static const OpDef def =
      compare_op("logical_or", "lhs or rhs.", [](Value a, Value b) { return is_true(a) || is_true(b); },
                 op_rules(no_gradient()), {"(3, 5)bool, (5)bool", "()bool, (2, 3)bool"});
  return def;
}

const OpDef& op_logical_xor() {
  static const OpDef def = compare_op("logical_xor", "Exactly one of both.",
                                      [](Value a, Value b) { return is_true(a) != is_true(b); },
                                      op_rules(no_gradient()), {"(3, 5)bool, (5)bool", "()bool, (2, 3)bool"});
  return def;
}

}  // namespace baton
