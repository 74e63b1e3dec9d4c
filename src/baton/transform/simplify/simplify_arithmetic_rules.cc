// Identities of arithmetic, constants that meet, casts and clips.
#include <limits>

#include "baton/ir/build.h"
#include "baton/transform/fold_constant.h"
#include "baton/transform/simplify/simplify_rules.h"

namespace baton {

namespace {

const TensorTypeNode* tensor(const Type& type) { return as_type<TensorTypeNode>(type); }

/// Whether the match is one of floats whose values must stay what they are, to the bit.
bool is_exact_float(const SimplifyMatch& m) {
  const TensorTypeNode* type = tensor(m.type);
  return m.exact_floats && type && !type->dtype().is_int() && !type->dtype().is_uint();
}

/// `left op right` of constants: its value, or the call where constants are not computed.
Expr computed(const SimplifyMatch& m, std::string_view op, const Expr& left, const Expr& right,
              const Type& type) {
  const Expr call = with_type(call_op(op, {left, right}), type);
  return m.folds ? fold_constants(call, *m.folds) : call;
}

template <class T>
bool all_equal(const NDArray& array, double wanted) {
  for (T value : array.as<T>())
    if (static_cast<double>(value) != wanted) return false;
  return true;
}

/// The value of a tensor that is the same everywhere: full, ones, zeros. Those that take their shape from
/// another tensor get it as an attribute first; where it is not known, they count beside that tensor
/// (`other`) only.
std::optional<double> filled_with(const Expr& expr, const Expr& other) {
  const auto* call = as<CallNode>(expr);
  const auto* filled = call && call->op() ? call->op()->rules.get<FilledWith>() : nullptr;
  if (!filled) return std::nullopt;
  const auto* like = call->op()->rules.get<LikeRule>();
  if (like && call->args().at(static_cast<size_t>(like->model)) != other) return std::nullopt;
  return filled->value ? filled->value : scalar_value(call->args().back());
}

/// Whether every element of `expr` is `wanted`, where it is computed with `other`: a constant, or zeros,
/// ones, full.
bool is_everywhere(const Expr& expr, double wanted, const Expr& other) {
  if (const auto* constant = as<ConstantNode>(expr)) {
    const NDArray& value = constant->value();
    const DType dtype = value.dtype();
    if (value.ndim() == 0) return scalar_value(expr) == wanted;
    if (dtype == DType::float_(32)) return all_equal<float>(value, wanted);
    if (dtype == DType::float_(64)) return all_equal<double>(value, wanted);
    if (dtype == DType::int_(32)) return all_equal<int32_t>(value, wanted);
    if (dtype == DType::int_(64)) return all_equal<int64_t>(value, wanted);
    return false;
  }
  return filled_with(expr, other) == wanted;
}

constexpr auto adds = is_arithmetic<Arithmetic::kSum, Arithmetic::kDifference>;
constexpr auto commutes = is_arithmetic<Arithmetic::kSum, Arithmetic::kProduct>;

/// Which argument of an addition, subtraction, multiplication or division the other one leaves as it is; -1:
/// none. Only an argument that is no smaller than the result.
int kept_side(const CallNode& call, const Type& type) {
  const double neutral = adds(*call.op()) ? 0 : 1;
  for (int kept : {0, 1}) {
    if (kept == 1 && !commutes(*call.op())) break;
    const Type& kept_type = call.args()[kept]->checked_type();
    if (kept_type && same_type(kept_type, type) &&
        is_everywhere(call.args()[1 - kept], neutral, call.args()[kept]))
      return kept;
  }
  return -1;
}

bool has_neutral_side(const CallNode& call, std::vector<Expr>& inner) {
  const int kept = kept_side(call, call.checked_type());
  if (kept < 0) return false;
  if (as<CallNode>(call.args()[1 - kept])) inner.push_back(call.args()[1 - kept]);
  return true;
}

/// x + 0, 0 + x, x - 0, x * 1, 1 * x, x / 1  ->  x, when x is no smaller than the result; of floats not the
/// sums: -0 + 0 is 0
Expr drop_identity(const SimplifyMatch& m) {
  const int kept = kept_side(m.call, m.type);
  if (kept < 0 || (is_exact_float(m) && is_arithmetic<Arithmetic::kSum>(*m.call.op()))) return nullptr;
  const std::string reason =
      adds(*m.call.op()) ? "adding zero changes nothing" : "multiplying by one changes nothing";
  retire(m.call.origins(), reason);
  retire_all(m.call.args()[1 - kept], reason);
  return m.call.args()[kept];
}

bool twice_the_same(const CallNode& call, std::vector<Expr>&) { return call.args()[0] == call.args()[1]; }

/// x + x  ->  x * 2
Expr double_it(const SimplifyMatch& m) {
  const TensorTypeNode* type = tensor(m.type);
  if (!type || m.call.args()[0] != m.call.args()[1]) return nullptr;
  return call_op("multiply", {m.call.args()[0], scalar(2, type->dtype())});
}

bool divides_by_root(const CallNode& call, std::vector<Expr>& inner) {
  inner.push_back(call.args()[1]);
  return call_of(inner[0], "sqrt");
}

/// a / sqrt(x)  ->  a * rsqrt(x), which rounds once more, or rsqrt(x) where a is 1
Expr reciprocal_root(const SimplifyMatch& m) {
  const CallNode* root = call_of(m.call.args()[1], "sqrt");
  const TensorTypeNode* type = tensor(m.type);
  if (!type || !type->dtype().is_float()) return nullptr;
  const bool is_one = is_everywhere(m.call.args()[0], 1, root->args()[0]);
  if (is_exact_float(m) && !is_one) return nullptr;
  if (is_one && same_type(m.arg_types[1], m.type)) {
    const OriginScope scope(m.call.origins().merge(root->origins()).merge(m.call.args()[0]->origins()));
    return call_op("rsqrt", {root->args()[0]});
  }
  Expr reciprocal;
  {
    const OriginScope scope(root->origins());
    reciprocal = with_type(call_op("rsqrt", {root->args()[0]}), m.arg_types[1]);
  }
  return call_op("multiply", {m.call.args()[0], reciprocal});
}

bool broadcasts_two(const OpDef& op) {
  return op.fuse == Fuse::kBroadcast && op.inputs.size() == 2 && !has_rule<NotBroadcast>(op);
}

/// Which argument is a filled tensor that may become a scalar; -1: none.
int filled_side(const CallNode& call) {
  for (int side : {0, 1}) {
    const Type& other = call.args()[1 - side]->checked_type();
    if (filled_with(call.args()[side], call.args()[1 - side]) && other && call.checked_type() &&
        same_type(other, call.checked_type()))
      return side;
  }
  return -1;
}

bool has_filled_side(const CallNode& call, std::vector<Expr>& inner) {
  const int side = filled_side(call);
  if (side >= 0) inner.push_back(call.args()[side]);
  return side >= 0;
}

/// x op full(c)  ->  x op c, when x is no smaller than the result
Expr full_to_scalar(const SimplifyMatch& m) {
  const int side = filled_side(m.call);
  if (side < 0) return nullptr;
  const Expr &full = m.call.args()[side], &other = m.call.args()[1 - side];
  std::vector<Expr> args = m.call.args();
  const OriginScope scope(full->origins());  // the scalar is what the full tensor became
  args[side] = scalar(*filled_with(full, other), tensor(m.arg_types[side])->dtype());
  return make_call(m.call.callee(), std::move(args), m.call.attrs(), m.call.with_type(m.type));
}

bool is_constant(const Expr& expr) { return expr->kind() == ExprKind::kConstant; }

/// The call of `op` with one constant among its two arguments: which argument that is, or -1.
int constant_side(const CallNode* call) {
  if (!call || call->args().size() != 2) return -1;
  for (int side : {1, 0})
    if (is_constant(call->args()[side]) && !is_constant(call->args()[1 - side])) return side;
  return -1;
}

Type broadcast_of(const Expr& a, const Expr& b) {
  const TensorTypeNode *x = tensor_type_of(a), *y = tensor_type_of(b);
  if (!x || !y || x->dtype() != y->dtype()) return nullptr;
  const TensorTypeNode &wide = x->rank() >= y->rank() ? *x : *y, &narrow = x->rank() >= y->rank() ? *y : *x;
  std::vector<Dim> shape = wide.shape();
  for (int i = 0; i < narrow.rank(); ++i) {
    Dim& dim = shape[wide.rank() - narrow.rank() + i];
    if (dim == Dim(1)) dim = narrow.shape()[i];
  }
  return tensor_type(std::move(shape), x->dtype());
}

bool two_with_constants(const CallNode& call, std::vector<Expr>& inner) {
  const int side = constant_side(&call);
  if (side < 0) return false;
  inner.push_back(call.args()[1 - side]);
  return constant_side(call_of(inner[0], call.op()->name)) >= 0;
}

/// (x + a) + b  ->  x + (a + b); (x * a) * b  ->  x * (a * b)
Expr join_constants(const SimplifyMatch& m) {
  if (is_exact_float(m)) return nullptr;  // (x + 1e8) - 1e8 is not x
  const std::string& name = m.call.op()->name;
  const int outer_side = constant_side(&m.call);
  if (outer_side < 0) return nullptr;
  const CallNode* inner = call_of(m.call.args()[1 - outer_side], name);
  const int inner_side = constant_side(inner);
  if (inner_side < 0) return nullptr;
  const Expr &b = m.call.args()[outer_side], &a = inner->args()[inner_side],
             &x = inner->args()[1 - inner_side];
  const Type type = broadcast_of(a, b);
  if (!type) return nullptr;
  const OriginScope scope(m.call.origins().merge(inner->origins()));
  return call_op(name, {x, computed(m, name, a, b, type)});
}

bool scaled_sum(const CallNode& call, std::vector<Expr>& inner) {
  const int side = constant_side(&call);
  if (side < 0) return false;
  inner.push_back(call.args()[1 - side]);
  return constant_side(call_of(inner[0], "add")) >= 0;
}

/// (x + c) * s  ->  x * s + c * s, c and s constants: the sum's constant folds, and FoldScaleAxis or fusion
/// takes x * s
Expr distribute(const SimplifyMatch& m) {
  if (is_exact_float(m)) return nullptr;
  const int scale_side = constant_side(&m.call);
  if (scale_side < 0) return nullptr;
  const CallNode* sum = call_of(m.call.args()[1 - scale_side], "add");
  const int side = constant_side(sum);
  if (side < 0) return nullptr;
  const Expr &s = m.call.args()[scale_side], &c = sum->args()[side], &x = sum->args()[1 - side];
  const Type type = broadcast_of(c, s);
  if (!type) return nullptr;
  const Expr scaled = with_type(call_op("multiply", {x, s}), broadcast_of(x, s));
  const Expr shift = computed(m, "multiply", c, s, type);
  const OriginScope scope(sum->origins());  // the addition goes on after the multiplication
  return call_op("add", {scaled, shift});
}

bool is_cast(const OpDef& op) { return is_op(op, "cast"); }
bool is_cast_or_like(const OpDef& op) { return is_op(op, "cast") || is_op(op, "cast_like"); }
bool is_clip(const OpDef& op) { return is_op(op, "clip"); }

bool casts_to_own_type(const CallNode& call, std::vector<Expr>&) {
  const Type& type = call.args()[0]->checked_type();
  return type && same_type(type, call.checked_type());
}

/// cast(x) to x's own type  ->  x
Expr drop_cast(const SimplifyMatch& m) {
  if (!m.arg_types[0] || !same_type(m.arg_types[0], m.type)) return nullptr;
  retire(m.call.origins(), "a cast to the same type changes nothing");
  if (m.call.args().size() > 1) retire_all(m.call.args()[1], "only its type was used");
  return m.call.args()[0];
}

/// Whether every value of `from` is one of `to`.
bool keeps_values(DType from, DType to) {
  if (from.code == to.code) return from.bits <= to.bits;
  if (to.is_int()) return from.is_uint() && from.bits < to.bits;
  const int mantissa = to.bits == 64 ? 53 : to.bits == 32 ? 24 : 11;
  return to.is_float() && (from.is_int() || from.is_uint()) && from.bits <= mantissa;
}

bool cast_of_cast(const CallNode& call, std::vector<Expr>& inner) {
  inner.push_back(call.args()[0]);
  return call_of(inner[0], "cast");
}

/// cast(cast(x))  ->  cast(x), when the inner one keeps all values
Expr merge_casts(const SimplifyMatch& m) {
  const CallNode* inner = call_of(m.call.args()[0], "cast");
  const TensorTypeNode* x = tensor_type_of(inner->args()[0]);
  const TensorTypeNode *middle = tensor(m.arg_types[0]), *type = tensor(m.type);
  if (!x || !middle || !type || !keeps_values(x->dtype(), middle->dtype())) return nullptr;
  const OriginScope scope(m.call.origins().merge(inner->origins()));
  return call_op("cast", {inner->args()[0]}, {{"dtype", type->dtype()}});
}

/// Whether `clip` cuts to just the values of `dtype`.
bool clips_to_range_of(const CallNode& clip, DType dtype) {
  double least, most;
  if ((dtype.is_int() || dtype.is_uint()) && dtype.bits > 1 && dtype.bits <= 32) {
    const double values = static_cast<double>(uint64_t{1} << dtype.bits);
    least = dtype.is_int() ? -values / 2 : 0;
    most = least + values - 1;
  } else if (dtype.is_float()) {
    most = dtype.bits == 64   ? std::numeric_limits<double>::max()
           : dtype.bits == 32 ? std::numeric_limits<float>::max()
                              : 65504;
    least = -most;
  } else {
    return false;
  }
  return float_attr(clip, "a_min") == least && float_attr(clip, "a_max") == most;
}

/// clip(cast(x))  ->  cast(x), when the clip cuts to the range of the cast's type
Expr drop_clip(const SimplifyMatch& m) {
  const TensorTypeNode* type = tensor(m.type);
  if (!type || !clips_to_range_of(m.call, type->dtype())) return nullptr;
  retire(m.call.origins(), "every value of the type lies in the range of the clip");
  return m.call.args()[0];
}

bool casts_of_clip(const CallNode& call, std::vector<Expr>& inner) {
  const CallNode* narrow = call_of(call.args()[0], "cast");
  if (!narrow || !call_of(narrow->args()[0], "clip")) return false;
  inner = {call.args()[0], narrow->args()[0]};
  return true;
}

/// cast(cast(clip(x)))  ->  clip(x), when the clip cuts to the range of the narrow type and the last cast
/// goes back to x's
Expr drop_casts_of_clip(const SimplifyMatch& m) {
  const CallNode* narrow = call_of(m.call.args()[0], "cast");
  const CallNode* clip = call_of(narrow->args()[0], "clip");
  const TensorTypeNode* middle = tensor(m.arg_types[0]);
  if (!middle || !clip->checked_type() || !same_type(clip->checked_type(), m.type) ||
      !clips_to_range_of(*clip, middle->dtype()))
    return nullptr;
  retire(m.call.origins().merge(narrow->origins()), "the clipped values fit into the narrow type");
  return narrow->args()[0];
}

bool of_dequantized(const CallNode& call, std::vector<Expr>& inner) {
  inner.push_back(call.args()[0]);
  return call_of(inner[0], "qnn.dequantize");
}

/// argmax(dequantize(q))  ->  argmax(q): the order of values stays the same
Expr order_of_dequantized(const SimplifyMatch& m) {
  const CallNode* dequantize = call_of(m.call.args()[0], "qnn.dequantize");
  retire(dequantize->origins(), "the order of values does not change");
  return make_call(m.call.callee(), {dequantize->args()[0]}, m.call.attrs(), m.call.with_type(m.type));
}

}  // namespace

const std::vector<SimplifyRule>& identity_rules() {
  constexpr auto sum = is_arithmetic<Arithmetic::kSum>;
  constexpr auto quotient = is_arithmetic<Arithmetic::kQuotient>;
  static const std::vector<SimplifyRule> rules = {
      {"x + x", sum, twice_the_same, double_it},
      {"a / sqrt(x)", quotient, divides_by_root, reciprocal_root},
      {"identities", has_rule<Arithmetic>, has_neutral_side, drop_identity},
  };
  return rules;
}

const std::vector<SimplifyRule>& value_rules() {
  static const std::vector<SimplifyRule> rules = {
      {"cast to the same type", is_cast_or_like, casts_to_own_type, drop_cast},
      {"cast of cast", is_cast, cast_of_cast, merge_casts},
      {"filled tensors as scalars", broadcasts_two, has_filled_side, full_to_scalar},
      {"(x + c) * s", is_arithmetic<Arithmetic::kProduct>, scaled_sum, distribute},
      {"constants that meet", commutes, two_with_constants, join_constants},
      {"order of dequantized values", has_rule<OrderOnly>, of_dequantized, order_of_dequantized},
      {"casts of a clip", is_cast, casts_of_clip, drop_casts_of_clip},
      {"clip of cast", is_clip, cast_of_cast, drop_clip},
  };
  return rules;
}

}  // namespace baton
