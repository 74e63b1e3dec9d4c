// Identities of arithmetic, constants that meet, casts and clips.
#include "baton/transform/build.h"
#include "baton/transform/fold_constant.h"
#include "baton/transform/simplify_rules.h"

namespace baton {

namespace {

const TensorTypeNode* tensor(const Type& type) { return as_type<TensorTypeNode>(type); }

/// `left op right` of constants: its value, or the call where constants are not computed.
Expr computed(const SimplifyMatch& m, std::string_view op, const Expr& left, const Expr& right,
              const Type& type) {
  const Expr call = with_type(call_op(op, {left, right}), type);
  return m.evaluator ? fold_constants(call, *m.evaluator) : call;
}

template <class T>
bool all_equal(const NDArray& array, double wanted) {
  for (T value : array.as<T>())
    if (static_cast<double>(value) != wanted) return false;
  return true;
}

/// Whether every element of `expr` is `wanted`: a constant, or zeros, ones, full.
bool is_everywhere(const Expr& expr, double wanted) {
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
  if (call_of(expr, "zeros")) return wanted == 0;
  if (call_of(expr, "ones")) return wanted == 1;
  const CallNode* full = call_of(expr, "full");
  return full && scalar_value(full->args()[0]) == wanted;
}

/// x + 0, 0 + x, x - 0, x * 1, 1 * x, x / 1  ->  x, when x is no smaller than the result
Expr drop_identity(const SimplifyMatch& m) {
  const std::string& name = m.call.op()->name;
  const double neutral = name == "add" || name == "subtract" ? 0 : 1;
  const bool commutes = name == "add" || name == "multiply";
  for (int kept : {0, 1}) {
    if (kept == 1 && !commutes) break;
    const Expr& other = m.call.args()[1 - kept];
    if (!m.arg_types[kept] || !same_type(m.arg_types[kept], m.type) || !is_everywhere(other, neutral))
      continue;
    const std::string reason =
        neutral == 0 ? "adding zero changes nothing" : "multiplying by one changes nothing";
    retire(m.call.origins(), reason);
    retire_all(other, reason);
    return m.call.args()[kept];
  }
  return nullptr;
}

/// x + x  ->  x * 2
Expr double_it(const SimplifyMatch& m) {
  const TensorTypeNode* type = tensor(m.type);
  if (!type || m.call.args()[0] != m.call.args()[1]) return nullptr;
  return call_op("multiply", {m.call.args()[0], scalar(2, type->dtype())});
}

/// 1 / sqrt(x)  ->  rsqrt(x)
Expr reciprocal_root(const SimplifyMatch& m) {
  const CallNode* root = call_of(m.call.args()[1], "sqrt");
  const TensorTypeNode* type = tensor(m.type);
  if (!root || !type || !type->dtype().is_float() || !is_everywhere(m.call.args()[0], 1) ||
      !same_type(m.arg_types[1], m.type) || !find_op("rsqrt"))
    return nullptr;
  const OriginScope scope(m.call.origins().merge(root->origins()).merge(m.call.args()[0]->origins()));
  return call_op("rsqrt", {root->args()[0]});
}

/// x op full(c)  ->  x op c, when x is no smaller than the result
Expr full_to_scalar(const SimplifyMatch& m) {
  const TensorTypeNode* type = tensor(m.type);
  if (m.call.op()->fuse != Fuse::kBroadcast || m.call.args().size() != 2 || !type) return nullptr;
  for (int full_at : {1, 0}) {
    const auto* full = as<CallNode>(m.call.args()[full_at]);
    const TensorTypeNode *full_type = tensor(m.arg_types[full_at]), *other = tensor(m.arg_types[1 - full_at]);
    if (!full || !full->op() || !full_type || !other || other->shape() != type->shape()) continue;
    const std::string& name = full->op()->name;
    std::optional<double> value;
    if (name == "zeros") value = 0;
    if (name == "ones") value = 1;
    if (name == "full") value = scalar_value(full->args()[0]);
    if (!value) continue;
    std::vector<Expr> args = m.call.args();
    const OriginScope scope(full->origins());  // the scalar is what the full tensor became
    args[full_at] = scalar(*value, full_type->dtype());
    return make_call(m.call.callee(), std::move(args), m.call.attrs(), m.call.with_type(m.type));
  }
  return nullptr;
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

/// (x + a) + b  ->  x + (a + b); (x * a) * b  ->  x * (a * b)
Expr join_constants(const SimplifyMatch& m) {
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

/// (x + c) * s  ->  x * s + c * s, c and s constants: the sum's constant folds, and FoldScaleAxis or fusion
/// takes x * s
Expr distribute(const SimplifyMatch& m) {
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

/// cast(x) to x's own type  ->  x
Expr drop_cast(const SimplifyMatch& m) {
  if (!m.arg_types[0] || !same_type(m.arg_types[0], m.type)) return nullptr;
  retire(m.call.origins(), "a cast to the same type changes nothing");
  return m.call.args()[0];
}

/// Whether every value of `from` is one of `to`.
bool keeps_values(DType from, DType to) {
  if (from.code == to.code) return from.bits <= to.bits;
  if (to.is_int()) return from.is_uint() && from.bits < to.bits;
  const int mantissa = to.bits == 64 ? 53 : to.bits == 32 ? 24 : 11;
  return to.is_float() && (from.is_int() || from.is_uint()) && from.bits <= mantissa;
}

/// Whether `to` is as wide, in Relay's order of integers, unsigned ones and floats.
bool widens(DType from, DType to) {
  if (from.code == to.code) return from.bits <= to.bits;
  if (from.is_bfloat() || to.is_bfloat() || from.is_handle() || to.is_handle()) return false;
  return from.code < to.code && from.bits <= to.bits;
}

/// cast(cast(x))  ->  cast(x), when the inner one keeps all values and the outer one widens
Expr merge_casts(const SimplifyMatch& m) {
  const CallNode* inner = call_of(m.call.args()[0], "cast");
  const TensorTypeNode* x = inner ? tensor_type_of(inner->args()[0]) : nullptr;
  const TensorTypeNode *middle = tensor(m.arg_types[0]), *type = tensor(m.type);
  if (!x || !middle || !type || !keeps_values(x->dtype(), middle->dtype()) ||
      !widens(middle->dtype(), type->dtype()))
    return nullptr;
  const OriginScope scope(m.call.origins().merge(inner->origins()));
  return call_op("cast", {inner->args()[0]}, {{"dtype", type->dtype()}});
}

/// The range of an integer type of at most 32 bits.
std::optional<std::pair<double, double>> range_of(DType dtype) {
  if (dtype.bits > 32 || dtype.bits < 2 || (!dtype.is_int() && !dtype.is_uint())) return std::nullopt;
  const double values = static_cast<double>(uint64_t{1} << dtype.bits);
  return dtype.is_int() ? std::pair(-values / 2, values / 2 - 1) : std::pair(0.0, values - 1);
}

/// clip(cast(x))  ->  cast(x), when every value of x's type lies in the clip's range
Expr drop_clip(const SimplifyMatch& m) {
  const CallNode* cast = call_of(m.call.args()[0], "cast");
  const TensorTypeNode* x = cast ? tensor_type_of(cast->args()[0]) : nullptr;
  const auto range = x ? range_of(x->dtype()) : std::nullopt;
  if (!range || float_attr(m.call, "a_min") > range->first || float_attr(m.call, "a_max") < range->second)
    return nullptr;
  retire(m.call.origins(), "every value of the type lies in the range of the clip");
  return m.call.args()[0];
}

/// cast(cast(clip(x)))  ->  clip(x), when the clip's range fits into the narrow type and the last cast goes
/// back to x's
Expr drop_casts_of_clip(const SimplifyMatch& m) {
  const CallNode* narrow = call_of(m.call.args()[0], "cast");
  const CallNode* clip = narrow ? call_of(narrow->args()[0], "clip") : nullptr;
  const TensorTypeNode* middle = tensor(m.arg_types[0]);
  const auto range = middle ? range_of(middle->dtype()) : std::nullopt;
  if (!clip || !range || !clip->checked_type() || !same_type(clip->checked_type(), m.type) ||
      !range_of(tensor(m.type)->dtype()))
    return nullptr;
  if (float_attr(*clip, "a_min") < range->first || float_attr(*clip, "a_max") > range->second) return nullptr;
  retire(m.call.origins().merge(narrow->origins()), "the clipped values fit into the narrow type");
  return narrow->args()[0];
}

/// argmax(dequantize(q))  ->  argmax(q): the order of values stays the same
Expr order_of_dequantized(const SimplifyMatch& m) {
  const CallNode* dequantize = call_of(m.call.args()[0], "qnn.dequantize");
  if (!dequantize) return nullptr;
  retire(dequantize->origins(), "the order of values does not change");
  return make_call(m.call.callee(), {dequantize->args()[0]}, m.call.attrs(), m.call.with_type(m.type));
}

}  // namespace

const std::vector<SimplifyRule>& arithmetic_rules() {
  static const std::vector<SimplifyRule> rules = {
      {"x + x", {"add"}, double_it},
      {"1 / sqrt(x)", {"divide"}, reciprocal_root},
      {"identities", {"add", "subtract", "multiply", "divide"}, drop_identity},
      {"cast to the same type", {"cast"}, drop_cast},
      {"casts of a clip", {"cast"}, drop_casts_of_clip},
      {"cast of cast", {"cast"}, merge_casts},
      {"clip of cast", {"clip"}, drop_clip},
      {"full tensors as scalars", {}, full_to_scalar},
      {"(x + c) * s", {"multiply"}, distribute},
      {"constants that meet", {"add", "multiply"}, join_constants},
      {"order of dequantized values", {"argmax", "argmin", "argsort"}, order_of_dequantized},
  };
  return rules;
}

}  // namespace baton
