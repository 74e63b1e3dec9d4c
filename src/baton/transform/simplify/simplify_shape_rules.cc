// Operators that only move data, and those that ask another tensor for its shape or type.
#include "baton/ir/build.h"
#include "baton/ir/layout.h"
#include "baton/transform/simplify/simplify_rules.h"

namespace baton {

namespace {

constexpr const char* kOnlyShapeAndType = "only its shape and type were used";

const TensorTypeNode* static_result(const SimplifyMatch& m) {
  const auto* type = as_type<TensorTypeNode>(m.type);
  return type && type->is_static() ? type : nullptr;
}

/// f_like(..., x)  ->  f(..., shape of x): the result's type says all.
Expr concretize(const SimplifyMatch& m) {
  const TensorTypeNode* type = static_result(m);
  if (!type) return nullptr;
  const LikeRule& like = *m.call.op()->rules.get<LikeRule>();
  const Expr result = like.concrete(m.call, *type);
  retire_all(m.call.args()[like.model], kOnlyShapeAndType);
  return result;
}

bool is_reshape(const OpDef& op) { return is_op(op, "reshape") || is_op(op, "contrib_reverse_reshape"); }
bool is_transpose(const OpDef& op) { return is_op(op, "transpose"); }
bool moves_axes(const OpDef& op) { return is_transpose(op) || is_op(op, "layout_transform"); }

bool is_call_of(const Expr& expr, bool (*which)(const OpDef&)) {
  const auto* call = as<CallNode>(expr);
  return call && call->op() && which(*call->op());
}

bool two_reshapes(const CallNode& call, std::vector<Expr>& inner) {
  inner.push_back(call.args()[0]);
  return is_call_of(inner[0], is_reshape);
}

/// reshape(reshape(x))  ->  reshape(x)
Expr merge_reshapes(const SimplifyMatch& m) {
  const auto* inner = as<CallNode>(m.call.args()[0]);
  const TensorTypeNode* type = static_result(m);
  if (!inner || !type) return nullptr;
  const OriginScope scope(m.call.origins().merge(inner->origins()));
  return call_op("reshape", {inner->args()[0]}, {{"newshape", type->extents()}});
}

/// A transpose or layout_transform as a pair of layouts; a transpose's are named after the given one, or made
/// up.
struct LayoutChange {
  std::string from, to;
};

std::vector<int> axes_of_transpose(const CallNode& transpose, int rank) {
  std::vector<int64_t> axes = ints_attr(transpose, "axes");
  std::vector<int> result;
  for (int i = 0; i < rank; ++i) result.push_back(axes.empty() ? rank - 1 - i : front_axis(axes[i], rank));
  return result;
}

/// `layout` with its axes in the order of `axes`; nothing when it is no plain list of axes.
std::string permuted(const std::string& layout, const std::vector<int>& axes) {
  std::string result;
  for (int axis : axes) result += layout[axis];
  return result;
}

bool is_plain(const std::string& layout) {
  return layout.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") == std::string::npos;
}

/// What two changes after each other amount to, in layouts; null when they cannot be told.
std::optional<LayoutChange> compose(const CallNode& inner, const CallNode& outer, int rank) {
  const bool inner_is_transpose = is_transpose(*inner.op()), outer_is_transpose = is_transpose(*outer.op());
  if (inner_is_transpose && outer_is_transpose) {
    const std::string from = std::string("ABCDEFGHIJKLMNOPQRSTUVWXYZ").substr(0, rank);
    return LayoutChange{
        from, permuted(permuted(from, axes_of_transpose(inner, rank)), axes_of_transpose(outer, rank))};
  }
  if (inner_is_transpose) {
    const std::string middle = text_attr(outer, "src_layout");
    if (!is_plain(middle) || static_cast<int>(middle.size()) != rank) return std::nullopt;
    const std::vector<int> axes = axes_of_transpose(inner, rank);
    std::string from(rank, ' ');
    for (int i = 0; i < rank; ++i) from[axes[i]] = middle[i];
    return LayoutChange{from, text_attr(outer, "dst_layout")};
  }
  const std::string from = text_attr(inner, "src_layout"), middle = text_attr(inner, "dst_layout");
  if (!outer_is_transpose)
    return middle == text_attr(outer, "src_layout")
               ? std::optional(LayoutChange{from, text_attr(outer, "dst_layout")})
               : std::nullopt;
  if (!is_plain(middle)) return std::nullopt;
  return LayoutChange{from, permuted(middle, axes_of_transpose(outer, static_cast<int>(middle.size())))};
}

bool two_changes(const CallNode& call, std::vector<Expr>& inner) {
  inner.push_back(call.args()[0]);
  return is_call_of(inner[0], moves_axes);
}

/// transpose and layout_transform after each other  ->  one, or nothing when they cancel. Where no axis is
/// split the one is a transpose.
Expr merge_layout_changes(const SimplifyMatch& m) {
  const auto* inner = as<CallNode>(m.call.args()[0]);
  // The rank below the inner change: its own for a transpose.
  const auto* middle = as_type<TensorTypeNode>(m.arg_types[0]);
  if (!inner || !middle) return nullptr;
  const auto change = compose(*inner, m.call, middle->rank());
  if (!change) return nullptr;
  const Expr& x = inner->args()[0];
  const OriginSet both = m.call.origins().merge(inner->origins());
  if (change->from == change->to) {
    // A split may pad; then the extents tell.
    if (!is_plain(change->from) && !same_type(x->checked_type(), m.type)) return nullptr;
    retire(both, "two changes of the layout cancel");
    return x;
  }
  const OriginScope scope(both);
  if (!is_plain(change->from) || !is_plain(change->to))
    return call_op("layout_transform", {x}, {{"src_layout", change->from}, {"dst_layout", change->to}});
  std::vector<int64_t> axes;
  for (char axis : change->to) axes.push_back(static_cast<int64_t>(change->from.find(axis)));
  return call_op("transpose", {x}, {{"axes", axes}});
}

}  // namespace

const std::vector<SimplifyRule>& like_rules() {
  static const std::vector<SimplifyRule> rules = {
      {"like-operators get their shape as an attribute", has_rule<LikeRule>, nullptr, concretize},
  };
  return rules;
}

const std::vector<SimplifyRule>& movement_rules() {
  static const std::vector<SimplifyRule> rules = {
      {"reshape of reshape", is_reshape, two_reshapes, merge_reshapes},
      {"changes of layout after each other", moves_axes, two_changes, merge_layout_changes},
  };
  return rules;
}

}  // namespace baton
