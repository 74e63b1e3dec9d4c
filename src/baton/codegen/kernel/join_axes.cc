#include "baton/codegen/kernel/join_axes.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "baton/ir/build.h"
#include "baton/ir/extent.h"
#include "baton/ir/inspect.h"
#include "baton/ir/op.h"
#include "baton/ir/rules/position_free_rule.h"
#include "baton/ir/visit.h"

namespace baton {
namespace {

/// One loop counts its elements in 31 bits, and tails of vectors beyond the end.
constexpr int64_t kLongestAxis = int64_t{1} << 30;

bool is_concatenation(const CallNode& call) {
  return is_call(Expr(&call), "concatenate") && call.args().size() == 1;
}

/// The axis that a concatenation joins its parts along.
int axis_of_parts(const CallNode& call) {
  const int64_t axis = *call.attrs()->get("axis").as<int64_t>();
  const int rank = as_type<TensorTypeNode>(call.checked_type())->rank();
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

class AxisJoiner {
 public:
  explicit AxisJoiner(const FunctionNode& function) : function_(function) {}

  /// Null where nothing can be joined.
  Function run() {
    const auto* result = as_type<TensorTypeNode>(function_.body()->checked_type());
    if (!result || !result->is_known() || result->rank() < 2) return {};
    full_ = result->shape();
    if (std::ranges::any_of(full_, [](Dim extent) { return !extent.is_any() && extent.value() < 1; }))
      return {};
    for (const Var& param : function_.params())
      if (!add_type(type_of(*param))) return {};
    bool known = true;
    post_order(function_.body(), [&](const Expr& node) { known = known && add(node); });
    const bool only_parts = std::ranges::includes(tuples_of_parts_, tuples_);
    if (!known || !only_parts) return {};
    find_groups();
    if (groups_.size() == full_.size()) return {};
    return joined();
  }

 private:
  struct Group {
    int first, last;
  };

  /// Notes what the node says about axes; false where it does not allow joining.
  bool add(const Expr& node) {
    if (const auto* tuple = as<TupleNode>(node)) {
      tuples_.insert(tuple);
      return true;
    }
    if (const auto* call = as<CallNode>(node)) {
      if (is_concatenation(*call)) {
        const auto* parts = as<TupleNode>(call->args()[0]);
        const auto* type = as_type<TensorTypeNode>(call->checked_type());
        if (!parts || !type || type->rank() != static_cast<int>(full_.size())) return false;
        tuples_of_parts_.insert(parts);
        kept_.insert(axis_of_parts(*call));
      } else if (!is_position_free(*call)) {
        return false;
      }
      return add_type(call->checked_type());
    }
    if (as<ConstantNode>(node)) return add_type(node->checked_type());
    return node->kind() == ExprKind::kVar || node->kind() == ExprKind::kOp;
  }

  bool add_type(const Type& type) {
    const auto* tensor = as_type<TensorTypeNode>(type);
    if (!tensor || !tensor->is_known() || tensor->rank() > static_cast<int>(full_.size())) return false;
    shapes_.push_back(padded(*tensor));
    return true;
  }

  /// Its extents, with axes of one element in front where it has fewer than the result.
  std::vector<Dim> padded(const TensorTypeNode& type) const {
    std::vector<Dim> extents(full_.size() - static_cast<size_t>(type.rank()), 1);
    extents.insert(extents.end(), type.shape().begin(), type.shape().end());
    return extents;
  }

  static Dim product(const std::vector<Dim>& extents, const Group& group) {
    Dim all = 1;
    for (int axis = group.first; axis <= group.last; ++axis) all = all * extents[static_cast<size_t>(axis)];
    return all;
  }

  /// Whether the axes can be one.
  bool fits(const Group& group) const {
    int longer = 0;
    bool kept = false;
    for (int axis = group.first; axis <= group.last; ++axis) {
      longer += !(full_[static_cast<size_t>(axis)] == 1);
      kept |= kept_.contains(axis) || axis == parallel_;
    }
    if (kept) return longer <= 1 && kept_longest(group);
    const Dim all = product(full_, group);
    if (all == Dim::any() || (!all.is_any() && all.value() > kLongestAxis)) return false;
    return std::ranges::all_of(shapes_, [&](const std::vector<Dim>& shape) {
      const Dim own = product(shape, group);
      return own == all || own == 1;
    });
  }

  /// Whether the only longer axis of the group, if any, is the one that is kept.
  bool kept_longest(const Group& group) const {
    for (int axis = group.first; axis <= group.last; ++axis)
      if (!(full_[static_cast<size_t>(axis)] == 1) && !kept_.contains(axis) && axis != parallel_)
        return false;
    int kept = 0;
    for (int axis = group.first; axis <= group.last; ++axis) kept += kept_.contains(axis);
    return kept <= 1;
  }

  void find_groups() {
    const auto rank = static_cast<int>(full_.size());
    for (parallel_ = 0; parallel_ < rank - 1 && full_[static_cast<size_t>(parallel_)] == 1;) ++parallel_;
    for (int axis = 0; axis < rank; ++axis)
      if (!groups_.empty() && fits({groups_.back().first, axis}))
        groups_.back().last = axis;
      else
        groups_.push_back({axis, axis});
  }

  Type joined_type(const Type& type) const {
    const auto* tensor = as_type<TensorTypeNode>(type);
    const std::vector<Dim> extents = padded(*tensor);
    const int missing = static_cast<int>(full_.size()) - tensor->rank();
    std::vector<Dim> all;
    for (const Group& group : groups_)
      if (group.last >= missing) all.push_back(product(extents, group));
    return tensor_type(std::move(all), tensor->dtype());
  }

  Function joined() {
    std::vector<Var> params;
    for (const Var& param : function_.params()) {
      const Type type = joined_type(type_of(*param));
      params.push_back(make_var(param->name(), type, param->with_type(type)));
      made_[param.get()] = params.back();
    }
    post_order(function_.body(), [&](const Expr& node) {
      if (!made_.contains(node.get())) made_[node.get()] = remade(node);
    });
    const Expr body = made_.at(function_.body().get());
    return make_function(std::move(params), body, body->checked_type(), function_.attrs(),
                         NodeInfo(function_.origins(), function_.span()));
  }

  Expr remade(const Expr& node) {
    if (node->kind() == ExprKind::kOp) return node;
    if (const auto* tuple = as<TupleNode>(node)) {
      std::vector<Expr> fields;
      std::vector<Type> types;
      for (const Expr& field : tuple->fields()) {
        fields.push_back(made_.at(field.get()));
        types.push_back(type_of(fields.back()));
      }
      return make_tuple(std::move(fields), node->with_type(tuple_type(std::move(types))));
    }
    const Type type = joined_type(node->checked_type());
    if (const auto* constant = as<ConstantNode>(node)) {
      const auto& extents = as_type<TensorTypeNode>(type)->extents();
      return make_constant(constant->value().reshaped({extents.begin(), extents.end()}),
                           node->with_type(type));
    }
    const auto* call = as<CallNode>(node);
    std::vector<Expr> args;
    for (const Expr& arg : call->args()) args.push_back(made_.at(arg.get()));
    Attrs attrs = call->attrs();
    if (is_concatenation(*call)) {
      const int axis = axis_of_parts(*call);
      const auto group = std::ranges::find_if(groups_, [&](const Group& each) { return each.last >= axis; }) -
                         groups_.begin();
      attrs = make_attrs(*call->op()->attrs, {{"axis", static_cast<int64_t>(group)}});
    }
    return make_call(call->callee(), std::move(args), attrs, call->with_type(type));
  }

  const FunctionNode& function_;
  std::vector<Dim> full_;  ///< the result's extents
  std::vector<std::vector<Dim>> shapes_;
  std::set<int> kept_;  ///< axes of concatenations
  int parallel_ = 0;
  std::set<const TupleNode*> tuples_, tuples_of_parts_;
  std::vector<Group> groups_;
  std::unordered_map<const ExprNode*, Expr> made_;
};

}  // namespace

Function join_axes(const Function& function) {
  Function joined = AxisJoiner(*function).run();
  return joined ? joined : function;
}

}  // namespace baton
