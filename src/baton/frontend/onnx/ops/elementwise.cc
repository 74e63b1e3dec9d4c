// Functions of each element, and of pairs of elements that broadcast.
#include <algorithm>
#include <cmath>

#include "baton/frontend/onnx/operators.h"
#include "baton/frontend/onnx/ops/formulas.h"
#include "baton/frontend/onnx/ops/numbers.h"

namespace baton::onnx {

namespace {

template <const char* kOp>
Values unary(Conversion& c) {
  return {c.call(kOp, {c[0]})};
}

// ---- Pairs.

/// Whether the shapes say what the operands broadcast to, `dynamic`: which of two extents is 1, if one is,
/// only their values say. (Numbers that do not fit are an error of the operator.)
bool broadcasts_as_typed(const Conversion& c, std::vector<Dim>& dynamic) {
  bool is_known = true;
  for (size_t i = 0; i < c.count(); ++i) {
    std::vector<Dim> shape = c.type(i).shape();
    const size_t rank = std::max(shape.size(), dynamic.size());
    shape.insert(shape.begin(), rank - shape.size(), Dim(1));
    dynamic.insert(dynamic.begin(), rank - dynamic.size(), Dim(1));
    for (size_t k = 0; k < rank; ++k) {
      if (dynamic[k] == shape.at(k) || shape.at(k) == Dim(1)) continue;
      if (dynamic[k] != Dim(1) && (dynamic[k].is_symbolic() || shape.at(k).is_symbolic())) {
        is_known = false;
        dynamic[k] = Dim::any();
      } else if (dynamic[k] == Dim(1)) {
        dynamic[k] = shape.at(k);
      }
    }
  }
  return is_known;
}

/// `convert`, at run time where the shapes need that; `dtype`: of the result.
template <class Convert>
Values broadcast(Conversion& c, DType dtype, const Convert& convert) {
  std::vector<Dim> shape;
  if ((c.version >= 7 || !c.has_attribute("axis")) && !broadcasts_as_typed(c, shape))
    return c.later({baton::tensor_type(shape, dtype)});
  return convert();
}

/// Until version 7, B is broadcast only where `broadcast` says so, its first axis at `axis` of A.
Expr second_operand(Conversion& c) {
  const Expr b = c[1];
  if (c.version >= 7 || !c.has_attribute("axis")) return b;
  const int rank = c.rank(0), own = tensor_type(b).rank(), axis = c.axis(c.integer("axis", 0), rank);
  const int behind = rank - axis - own;
  if (behind < 0) throw c.error("its attribute `axis` leaves no room for its second operand");
  return behind == 0 ? b : c.call("expand_dims", {b}, {{"axis", own}, {"num_newaxis", behind}});
}

template <const char* kOp>
Values binary(Conversion& c) {
  return broadcast(c, c.dtype(0), [&] { return Values{c.call(kOp, {c[0], second_operand(c)})}; });
}
template <const char* kOp>
Values compare(Conversion& c) {
  return broadcast(c, DType::bool_(), [&] { return Values{c.call(kOp, {c[0], second_operand(c)})}; });
}

/// Integers round to zero, as in C.
Values divide(Conversion& c) {
  const char* op = c.dtype(0).is_float() || c.dtype(0).is_bfloat() ? "divide" : "trunc_divide";
  return broadcast(c, c.dtype(0), [&] { return Values{c.call(op, {c[0], second_operand(c)})}; });
}

/// Of reals, with the sign of the divisor, also where it is 0.
Expr floor_remainder(const Conversion& c, const Expr& a, const Expr& b) {
  const DType type = c.dtype(0);
  const Expr zero = c.scalar(0, type), rest = c.call("mod", {a, b});
  const Expr is_below = c.call("less", {b, zero});
  const Expr differs = c.call("logical_xor", {c.call("less", {rest, zero}), is_below});
  const Expr moved = c.call("where", {differs, c.call("add", {rest, b}), rest});
  const Expr none = c.call("where", {is_below, c.call("negative", {zero}), zero});
  return c.call("where", {c.call("equal", {rest, zero}), none, moved});
}

Values mod(Conversion& c) {
  const bool truncated = c.integer("fmod", 0) != 0;
  if (!truncated && (c.dtype(0).is_float() || c.dtype(0).is_bfloat()))
    return broadcast(c, c.dtype(0), [&] { return Values{floor_remainder(c, c[0], c[1])}; });
  return broadcast(c, c.dtype(0),
                   [&] { return Values{c.call(truncated ? "mod" : "floor_mod", {c[0], c[1]})}; });
}

/// The result has the type of the base, whatever the exponent's is.
Values power(Conversion& c) {
  const DType base = c.dtype(0), exponent = c.dtype(1);
  const auto is_real = [](DType type) { return type.is_float() || type.is_bfloat(); };
  // Integers to a real power are computed as reals.
  const DType common = base == exponent || is_real(base) || !is_real(exponent) ? base : DType::float_(64);
  return broadcast(c, base, [&] {
    return Values{c.cast(c.call("power", {c.cast(c[0], common), c.cast(second_operand(c), common)}), base)};
  });
}

Values shift(Conversion& c) {
  const std::string direction = c.text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    throw c.error("`direction` is \"" + direction + "\", and should be LEFT or RIGHT");
  const char* op = direction == "LEFT" ? "left_shift" : "right_shift";
  return broadcast(c, c.dtype(0), [&] { return Values{c.call(op, {c[0], c[1]})}; });
}

Values where(Conversion& c) {
  return broadcast(c, c.dtype(1), [&] { return Values{c.call("where", {c[0], c[1], c[2]})}; });
}

// ---- Any number of operands.

template <const char* kOp>
Values variadic(Conversion& c) {
  return broadcast(c, c.dtype(0), [&] {
    Expr result = c[0];
    for (size_t i = 1; i < c.count(); ++i) result = c.call(kOp, {result, c[i]});
    return Values{result};
  });
}

Values mean(Conversion& c) {
  return broadcast(c, c.dtype(0), [&] {
    Expr sum = c[0];
    for (size_t i = 1; i < c.count(); ++i) sum = c.call("add", {sum, c[i]});
    return Values{c.call("divide", {sum, c.scalar(static_cast<double>(c.count()), c.dtype(0))})};
  });
}

// ---- Activations. `number`: the default of the newest version; none has changed.

Expr number(Conversion& c, const char* name, double otherwise) {
  return c.scalar(c.number(name, otherwise), c.dtype(0));
}

Expr clipped(Conversion& c, const Expr& value, double low, double high) {
  return c.call("clip", {value}, {{"a_min", low}, {"a_max", high}});
}

/// Where x is negative, `below`; else `above`. NaN takes `above`.
Expr by_sign(Conversion& c, const Expr& below, const Expr& above) {
  return c.call("where", {c.call("less", {c[0], c.scalar(0, c.dtype(0))}), below, above});
}

Values leaky_relu(Conversion& c) {
  return {c.call("nn.leaky_relu", {c[0]}, {{"alpha", c.number("alpha", 0.01)}})};
}

/// alpha * (exp(x) - 1) below 0.
Expr elu_of(Conversion& c, const Expr& x, double alpha) {
  const DType type = c.dtype(0);
  const Expr below = c.call(
      "multiply", {c.scalar(alpha, type), c.call("subtract", {c.call("exp", {x}), c.scalar(1, type)})});
  return by_sign(c, below, x);
}
Values elu(Conversion& c) { return {elu_of(c, c[0], c.number("alpha", 1))}; }
Values selu(Conversion& c) {
  // Version 1 gave fewer digits.
  const double alpha = c.number("alpha", c.version < 6 ? 1.6732 : 1.67326319217681884765625),
               gamma = c.number("gamma", c.version < 6 ? 1.0507 : 1.05070102214813232421875);
  return {c.call("multiply", {c.scalar(gamma, c.dtype(0)), elu_of(c, c[0], alpha)})};
}
/// max(0, x) + min(0, alpha * (exp(x / alpha) - 1)); of floats of 16 bits rounded once.
Values celu(Conversion& c) {
  const DType type = c.dtype(0).bits < 32 ? DType::float_(32) : c.dtype(0);
  const Expr x = c.cast(c[0], type), alpha = c.scalar(c.number("alpha", 1), type);
  const Expr power = c.call("exp", {c.call("divide", {x, alpha})});
  const Expr below = c.call("multiply", {alpha, c.call("subtract", {power, c.scalar(1, type)})});
  return {by_sign(c, c.cast(below, c.dtype(0)), c[0])};
}
/// The first versions have a slope for each channel.
Values prelu(Conversion& c) {
  Expr slope = second_operand(c);
  if (c.version < 7 && c.rank(1) == 1 && c.rank(0) > 2 && c.type(1).shape().front() != Dim(1)) {
    std::vector<int64_t> shape(static_cast<size_t>(c.rank(0)) - 1, 1);
    shape.at(0) = -1;
    slope = c.reshape(slope, shape);
  }
  return {by_sign(c, c.call("multiply", {c[0], slope}), c[0])};
}
Values thresholded_relu(Conversion& c) {
  const Expr above = c.call("greater", {c[0], number(c, "alpha", 1)});
  return {c.call("where", {above, c[0], c.scalar(0, c.dtype(0))})};
}
Values hard_sigmoid(Conversion& c) {
  const Expr line =
      c.call("add", {c.call("multiply", {c[0], number(c, "alpha", 0.2)}), number(c, "beta", 0.5)});
  return {clipped(c, line, 0, 1)};
}
Values hard_swish(Conversion& c) {
  const DType type = c.dtype(0);
  const Expr line = c.call("add", {c.call("multiply", {c[0], c.scalar(1.0 / 6, type)}), c.scalar(0.5, type)});
  return {c.call("multiply", {c[0], clipped(c, line, 0, 1)})};
}
/// log(1 + exp(x)) as max(x, 0) + log(1 + exp(-|x|)): exp does not overflow.
Expr softplus_of(Conversion& c, const Expr& x) {
  const DType type = tensor_type(x).dtype();
  const Expr small = c.call("exp", {c.call("negative", {c.call("abs", {x})})});
  return c.call("add", {c.call("maximum", {x, c.scalar(0, type)}),
                        c.call("log", {c.call("add", {c.scalar(1, type), small})})});
}
Values softplus(Conversion& c) { return {softplus_of(c, c[0])}; }
Values softsign(Conversion& c) {
  return {c.call("divide", {c[0], c.call("add", {c.scalar(1, c.dtype(0)), c.call("abs", {c[0]})})})};
}
Values mish(Conversion& c) { return {c.call("multiply", {c[0], c.call("tanh", {softplus_of(c, c[0])})})}; }
Values swish(Conversion& c) {
  const Expr scaled = c.has_attribute("alpha") ? c.call("multiply", {c[0], number(c, "alpha", 1)}) : c[0];
  return {c.call("multiply", {c[0], c.call("sigmoid", {scaled})})};
}
/// The second operand, gated by the first.
Values swiglu(Conversion& c) { return {c.call("multiply", {swish(c).front().tensor, c[1]})}; }
Values shrink(Conversion& c) {
  const DType type = c.dtype(0);
  const double lambda = c.number("lambd", 0.5), bias = c.number("bias", 0);
  const Expr zero = c.scalar(0, type);
  const bool is_signed = type.is_int() || type.is_float() || type.is_bfloat();
  const Expr low = !is_signed ? zero
                              : c.call("where", {c.call("less", {c[0], c.scalar(-lambda, type)}),
                                                 c.call("add", {c[0], c.scalar(bias, type)}), zero});
  return {c.call("where", {c.call("greater", {c[0], c.scalar(lambda, type)}),
                           c.call("subtract", {c[0], c.scalar(bias, type)}), low})};
}
Values gelu(Conversion& c) {
  const DType type = c.dtype(0);
  const std::string form = c.text("approximate", "none");
  const Expr x = c[0];
  const auto times = [&](const Expr& a, const Expr& b) { return c.call("multiply", {a, b}); };
  Expr inner;
  if (form == "tanh") {
    const Expr cube = times(times(x, x), x);
    inner = c.call("tanh", {times(c.scalar(std::sqrt(2 / M_PI), type),
                                  c.call("add", {x, times(c.scalar(0.044715, type), cube)}))});
  } else if (form == "none") {
    inner = c.call("erf", {times(x, c.scalar(std::sqrt(0.5), type))});
  } else {
    throw c.error("`approximate` is \"" + form + "\", and should be none or tanh");
  }
  return {times(times(c.scalar(0.5, type), x), c.call("add", {c.scalar(1, type), inner}))};
}

/// The number of a constant of one element that an attribute can hold exactly.
std::optional<double> number_of(const Conversion& c, size_t input) {
  const ConstantNode* constant = c.constant(input);
  if (!constant || constant->value().size() != 1) return std::nullopt;
  const std::optional<double> value = scalar_value(baton::constant(constant->value().reshaped({})));
  const double exact = std::ldexp(1.0, 53);
  return value && (std::abs(*value) < exact || c.dtype(0).is_float()) ? value : std::nullopt;
}

/// A bound that is not given does not bound; NaN stays NaN.
Values clip(Conversion& c) {
  if (c.version < 11) {
    const double most = 3.402823466385288598e+38;
    return {clipped(c, c[0], c.number("min", -most), c.number("max", most))};
  }
  const auto low = number_of(c, 1), high = number_of(c, 2);
  if (low && high && !std::isnan(*low) && !std::isnan(*high)) return {clipped(c, c[0], *low, *high)};
  Expr result = c[0];
  if (c.has(1)) result = c.call("maximum", {result, c[1]});
  if (c.has(2)) result = c.call("minimum", {result, c[2]});
  return {result};
}

// ---- Kinds of numbers.

Values is_inf(Conversion& c) {
  const bool positive = c.integer("detect_positive", 1) != 0, negative = c.integer("detect_negative", 1) != 0;
  const Expr infinite = c.call("isinf", {c[0]}), zero = c.scalar(0, c.dtype(0));
  if (positive && negative) return {infinite};
  if (!positive && !negative) return {c.call("zeros_like", {infinite})};
  return {c.call("logical_and", {infinite, c.call(positive ? "greater" : "less", {c[0], zero})})};
}

Values round_even(Conversion& c) { return {Formulas(c).round_even(c[0])}; }

Values reciprocal(Conversion& c) { return {c.call("divide", {c.scalar(1, c.dtype(0)), c[0]})}; }

Values identity(Conversion& c) { return {c.value(0)}; }

#define NAME(id, text) constexpr char id[] = text
NAME(kAbs, "abs");
NAME(kAcos, "acos");
NAME(kAcosh, "acosh");
NAME(kAdd, "add");
NAME(kAnd, "logical_and");
NAME(kAsin, "asin");
NAME(kAsinh, "asinh");
NAME(kAtan, "atan");
NAME(kAtanh, "atanh");
NAME(kBitAnd, "bitwise_and");
NAME(kBitNot, "bitwise_not");
NAME(kBitOr, "bitwise_or");
NAME(kBitXor, "bitwise_xor");
NAME(kCeil, "ceil");
NAME(kCos, "cos");
NAME(kCosh, "cosh");
NAME(kEqual, "equal");
NAME(kErf, "erf");
NAME(kExp, "exp");
NAME(kFloor, "floor");
NAME(kGreater, "greater");
NAME(kGreaterEqual, "greater_equal");
NAME(kIsNan, "isnan");
NAME(kLess, "less");
NAME(kLessEqual, "less_equal");
NAME(kLog, "log");
NAME(kMaximum, "maximum");
NAME(kMinimum, "minimum");
NAME(kMultiply, "multiply");
NAME(kNegative, "negative");
NAME(kNot, "logical_not");
NAME(kOr, "logical_or");
NAME(kRelu, "nn.relu");
NAME(kSigmoid, "sigmoid");
NAME(kSign, "sign");
NAME(kSin, "sin");
NAME(kSinh, "sinh");
NAME(kSqrt, "sqrt");
NAME(kSubtract, "subtract");
NAME(kTan, "tan");
NAME(kTanh, "tanh");
NAME(kXor, "logical_xor");
#undef NAME

}  // namespace

const std::vector<Operator>& elementwise_operators() {
  static const std::vector<Operator> all = {
      {"", "Abs", {1, 6, 13}, &unary<kAbs>},
      {"", "Acos", {7, 22}, &unary<kAcos>},
      {"", "Acosh", {9, 22}, &unary<kAcosh>},
      {"", "Add", {1, 6, 7, 13, 14}, &binary<kAdd>},
      {"", "And", {1, 7}, &compare<kAnd>},
      {"", "Asin", {7, 22}, &unary<kAsin>},
      {"", "Asinh", {9, 22}, &unary<kAsinh>},
      {"", "Atan", {7, 22}, &unary<kAtan>},
      {"", "Atanh", {9, 22}, &unary<kAtanh>},
      {"", "BitShift", {11, 28}, &shift},
      {"", "BitwiseAnd", {18}, &binary<kBitAnd>},
      {"", "BitwiseNot", {18}, &unary<kBitNot>},
      {"", "BitwiseOr", {18}, &binary<kBitOr>},
      {"", "BitwiseXor", {18}, &binary<kBitXor>},
      {"", "Ceil", {1, 6, 13}, &unary<kCeil>},
      {"", "Celu", {12, 28}, &celu},
      {"", "Clip", {1, 6, 11, 12, 13}, &clip},
      {"", "Cos", {7, 22}, &unary<kCos>},
      {"", "Cosh", {9, 22}, &unary<kCosh>},
      {"", "Div", {1, 6, 7, 13, 14}, &divide},
      {"", "Elu", {1, 6, 22}, &elu},
      {"", "Equal", {1, 7, 11, 13, 19}, &compare<kEqual>},
      {"", "Erf", {9, 13}, &unary<kErf>},
      {"", "Exp", {1, 6, 13}, &unary<kExp>},
      {"", "Floor", {1, 6, 13}, &unary<kFloor>},
      {"", "Gelu", {20}, &gelu},
      {"", "Greater", {1, 7, 9, 13}, &compare<kGreater>},
      {"", "GreaterOrEqual", {12, 16}, &compare<kGreaterEqual>},
      {"", "HardSigmoid", {1, 6, 22}, &hard_sigmoid},
      {"", "HardSwish", {14, 22}, &hard_swish},
      {"", "Identity", {1, 13, 14, 16, 19, 21, 23, 24, 25}, &identity},
      {"", "IsInf", {10, 20}, &is_inf},
      {"", "IsNaN", {9, 13, 20}, &unary<kIsNan>},
      {"", "LeakyRelu", {1, 6, 16}, &leaky_relu},
      {"", "Less", {1, 7, 9, 13}, &compare<kLess>},
      {"", "LessOrEqual", {12, 16}, &compare<kLessEqual>},
      {"", "Log", {1, 6, 13}, &unary<kLog>},
      {"", "Max", {1, 6, 8, 12, 13}, &variadic<kMaximum>},
      {"", "Mean", {1, 6, 8, 13}, &mean},
      {"", "Min", {1, 6, 8, 12, 13}, &variadic<kMinimum>},
      {"", "Mish", {18, 22}, &mish},
      {"", "Mod", {10, 13, 28}, &mod},
      {"", "Mul", {1, 6, 7, 13, 14}, &binary<kMultiply>},
      {"", "Neg", {1, 6, 13}, &unary<kNegative>},
      {"", "Not", {1}, &unary<kNot>},
      {"", "Or", {1, 7}, &compare<kOr>},
      {"", "PRelu", {1, 6, 7, 9, 16}, &prelu},
      {"", "Pow", {1, 7, 12, 13, 15}, &power},
      {"", "Reciprocal", {1, 6, 13}, &reciprocal},
      {"", "Relu", {1, 6, 13, 14}, &unary<kRelu>},
      {"", "Round", {11, 22}, &round_even},
      {"", "Selu", {1, 6, 22}, &selu},
      {"", "Shrink", {9}, &shrink},
      {"", "Sigmoid", {1, 6, 13}, &unary<kSigmoid>},
      {"", "Sign", {9, 13}, &unary<kSign>},
      {"", "Sin", {7, 22}, &unary<kSin>},
      {"", "Sinh", {9, 22}, &unary<kSinh>},
      {"", "Softplus", {1, 22}, &softplus},
      {"", "Softsign", {1, 22}, &softsign},
      {"", "Sqrt", {1, 6, 13}, &unary<kSqrt>},
      {"", "Sub", {1, 6, 7, 13, 14}, &binary<kSubtract>},
      {"", "Sum", {1, 6, 8, 13}, &variadic<kAdd>},
      {"", "SwiGLU", {28}, &swiglu},
      {"", "Swish", {24}, &swish},
      {"", "Tan", {7, 22}, &unary<kTan>},
      {"", "Tanh", {1, 6, 13}, &unary<kTanh>},
      {"", "ThresholdedRelu", {10, 22}, &thresholded_relu},
      {"", "Where", {9, 16}, &where},
      {"", "Xor", {1, 7}, &compare<kXor>},
  };
  return all;
}

}  // namespace baton::onnx
