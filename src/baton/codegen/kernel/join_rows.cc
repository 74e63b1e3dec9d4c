#include "baton/codegen/kernel/join_rows.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "baton/ir/extent.h"
#include "baton/ir/inspect.h"
#include "baton/ir/op.h"
#include "baton/ir/rules/pass_traits.h"
#include "baton/ir/rules/position_free_rule.h"
#include "baton/ir/visit.h"

namespace baton {
namespace {

struct Anchor {
  const CallNode* call = nullptr;
  AxisRange axes;
};

/// The first operator of the function with the rule; null where there is none.
Anchor find_anchor(const FunctionNode& function) {
  Anchor found;
  post_order(function.body(), [&](const Expr& node) {
    const auto* call = as<CallNode>(node);
    const auto* rule = !found.call && call && call->op() ? call->op()->rules.get<JoinableAxes>() : nullptr;
    if (const auto axes = rule ? rule->of(*call) : std::nullopt) found = {call, *axes};
  });
  return found;
}

class RowJoiner {
 public:
  RowJoiner(const FunctionNode& function, const Anchor& anchor)
      : function_(function), anchor_(*anchor.call), axes_(anchor.axes) {
    const std::vector<Dim>& out = as_type<TensorTypeNode>(anchor_.checked_type())->shape();
    rank_ = static_cast<int>(out.size());
    BATON_CHECK(axes_.first < axes_.last && axes_.last < rank_, "axes that can be joined");
    full_ = joined_extents(out);
    const std::vector<Dim>& data = as_type<TensorTypeNode>(type_of(anchor_.args()[0]))->shape();
    strided_ = data.size() != out.size() || joined_extents(data) != full_;
    // What the anchor reads keeps its shape, except data that have the positions of the result.
    for (size_t i = strided_ ? 0 : 1; i < anchor_.args().size(); ++i)
      post_order(anchor_.args()[i], [&](const Expr& node) { kept_.insert(node.get()); });
    // Shapes of these operands are not aligned with the result's.
    post_order(function.body(), [&](const Expr& node) {
      const auto* call = as<CallNode>(node);
      if (!call || !call->op() || !call->op()->rules.get<PositionFreeRule>()) return;
      for (size_t i = 1; i < call->args().size(); ++i) unaligned_.insert(call->args()[i].get());
    });
  }

  /// Null where the rows cannot be joined.
  Function run() {
    const bool is_one_row =
        std::all_of(full_.begin(), full_.end() - 1, [](Dim extent) { return extent == 1; });
    if (is_one_row || std::ranges::count(full_, Dim(0))) return {};
    std::vector<Var> params;
    for (const Var& param : function_.params()) {
      Var joined = param;
      if (!kept_.count(param.get()) && !unaligned_.count(param.get())) {
        const Type type = joined_type(type_of(*param));
        if (!type) return {};
        joined = make_var(param->name(), type, param->with_type(type));
      }
      made_[param.get()] = joined;
      params.push_back(std::move(joined));
    }
    post_order(function_.body(), [&](const Expr& node) {
      if (possible_ && !made_.count(node.get())) made_[node.get()] = remade(node);
    });
    if (!possible_) return {};
    const Expr body = made_.at(function_.body().get());
    return make_function(std::move(params), body, body->checked_type(), function_.attrs(),
                         NodeInfo(function_.origins(), function_.span()));
  }

 private:
  Expr fail() {
    possible_ = false;
    return {};
  }

  /// A kept value may be used outside of the convolution only if joining would not change it.
  Expr remade(const Expr& node) {
    if (kept_.count(node.get()) || unaligned_.count(node.get()) || node->kind() == ExprKind::kOp) return node;
    const Type type = joined_type(node->checked_type());
    if (!type) return fail();
    if (const auto* constant = as<ConstantNode>(node)) {
      const auto& extents = as_type<TensorTypeNode>(type)->extents();
      return make_constant(constant->value().reshaped({extents.begin(), extents.end()}),
                           node->with_type(type));
    }
    const auto* call = as<CallNode>(node);
    if (!call || (call != &anchor_ && !is_same_in_one_row(*call))) return fail();
    std::vector<Expr> args;
    const bool takes_unaligned = call->op()->rules.get<PositionFreeRule>();
    for (const Expr& arg : call->args()) {
      if (unaligned_.count(arg.get()) && !takes_unaligned) return fail();
      if (call != &anchor_ && kept_.count(arg.get()) && joined_type(type_of(arg)).get() != type_of(arg).get())
        return fail();
      args.push_back(made_.at(arg.get()));
    }
    return make_call(call->callee(), std::move(args), call->attrs(), call->with_type(type));
  }

  /// Whether its results stay the same when height and width are one axis.
  static bool is_same_in_one_row(const CallNode& call) {
    const auto* rule = call.op() ? call.op()->rules.get<PositionFreeRule>() : nullptr;
    return rule ? rule->applies(call) : is_position_free(call);
  }

  /// The extents of the axes that are to be joined, of a tensor of the anchor's rank.
  std::vector<Dim> joined_extents(const std::vector<Dim>& extents) const {
    return {extents.begin() + axes_.first, extents.begin() + axes_.last + 1};
  }

  /// `type` itself where none of the axes occurs in it; null where they cannot be joined.
  Type joined_type(const Type& type) const {
    const auto* tensor = as_type<TensorTypeNode>(type);
    if (!tensor || !tensor->is_known() || tensor->rank() > rank_) return {};
    // Aligned at the last axis, as broadcasts align shapes.
    const int missing = rank_ - tensor->rank();
    std::vector<Dim> extents(static_cast<size_t>(missing), 1);
    extents.insert(extents.end(), tensor->shape().begin(), tensor->shape().end());
    const std::vector<Dim> across = joined_extents(extents);
    if (std::ranges::all_of(across, [](Dim extent) { return extent == 1; })) return type;
    if (across != full_) return {};
    std::fill(extents.begin() + axes_.first, extents.begin() + axes_.last, 1);
    extents[static_cast<size_t>(axes_.last)] =
        std::accumulate(full_.begin(), full_.end(), Dim(1), [](Dim a, Dim b) { return a * b; });
    extents.erase(extents.begin(), extents.begin() + std::min(missing, axes_.last));
    return tensor_type(std::move(extents), tensor->dtype());
  }

  const FunctionNode& function_;
  const CallNode& anchor_;
  const AxisRange axes_;
  int rank_ = 0;
  std::vector<Dim> full_;  ///< extents of the axes that are joined
  bool strided_ = false, possible_ = true;
  std::unordered_set<const ExprNode*> kept_, unaligned_;
  std::unordered_map<const ExprNode*, Expr> made_;
};

}  // namespace

Function join_rows(const Function& function) {
  const Anchor anchor = find_anchor(*function);
  if (!anchor.call) return function;
  Function joined = RowJoiner(*function, anchor).run();
  return joined ? joined : function;
}

}  // namespace baton
