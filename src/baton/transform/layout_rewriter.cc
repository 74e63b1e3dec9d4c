#include "baton/transform/layout_rewriter.h"

#include <algorithm>
#include <map>

#include "baton/ops/rules/layout_rules.h"
#include "baton/pass/rewriter.h"
#include "baton/support/pointer_map.h"
#include "baton/transform/build.h"

namespace baton {

namespace {

using States = std::vector<LayoutState>;

bool any_changed(const States& states) {
  return std::ranges::any_of(states, [](const LayoutState& state) { return state.changed(); });
}

/// One tensor among a call's arguments (tuples flattened).
struct Slot {
  Expr expr;
  LayoutState state;
  const TensorTypeNode* type;  ///< in the program
};

class LayoutRewriter final : public Rewriter {
 public:
  explicit LayoutRewriter(const Alterer& alter) : alter_(alter) {}

 private:
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    switch (original->kind()) {
      case ExprKind::kTuple:
        return rewrite_tuple(*as<TupleNode>(original), rebuilt);
      case ExprKind::kTupleGetItem:
        return rewrite_item(*as<TupleGetItemNode>(original), rebuilt);
      case ExprKind::kCall:
        if (as<CallNode>(original)->op()) return rewrite_call(*as<CallNode>(original), rebuilt);
        return rewrite_plain(original, rebuilt);
      case ExprKind::kFunction:
      case ExprKind::kLet:
      case ExprKind::kIf:
      case ExprKind::kMatch:
      case ExprKind::kRefCreate:
      case ExprKind::kRefRead:
      case ExprKind::kRefWrite:
        return rewrite_plain(original, rebuilt);
      case ExprKind::kVar:
      case ExprKind::kGlobalVar:
      case ExprKind::kConstant:
      case ExprKind::kConstructor:
      case ExprKind::kOp:
        break;
    }
    return rebuilt;
  }

  // ---- Structure

  Expr rewrite_tuple(const TupleNode& tuple, const Expr& rebuilt) {
    States states;
    for (const Expr& field : tuple.fields()) {
      const States* inner = states_.find(field.get());
      if (inner && inner->size() != 1)
        return restore_children(tuple, rebuilt);  // nested tuples: rare, keep it simple
      states.push_back(inner ? inner->front() : LayoutState{});
    }
    if (any_changed(states)) states_.insert(&tuple, std::move(states));
    return rebuilt;
  }

  Expr rewrite_item(const TupleGetItemNode& item, const Expr& rebuilt) {
    if (const States* states = states_.find(item.tuple().get()))
      states_.insert(&item, States{(*states)[item.index()]});
    return rebuilt;
  }

  // What cannot follow: everything below it is changed back.
  Expr rewrite_plain(const Expr& original, const Expr& rebuilt) {
    return restore_children(*original, rebuilt);
  }

  Expr restore_children(const ExprNode& node, const Expr& rebuilt) {
    bool changed = false;
    for_each_child_of(node, [&](const Expr& child) { changed |= states_.find(child.get()) != nullptr; });
    if (!changed) return rebuilt;
    const NodeInfo info = node.info();
    if (const auto* function = as<FunctionNode>(&node)) {
      const auto* now = as<FunctionNode>(rebuilt);
      return make_function(now->params(), restored(function->body(), nullptr), function->ret_type(),
                           function->attrs(), info, function->type_params());
    }
    if (const auto* let = as<LetNode>(&node)) {
      const auto* now = as<LetNode>(rebuilt);
      return make_let(now->var(), restored(let->value(), nullptr), restored(let->body(), nullptr), info);
    }
    if (const auto* branch = as<IfNode>(&node))
      return make_if(restored(branch->condition(), nullptr), restored(branch->then(), nullptr),
                     restored(branch->otherwise(), nullptr), info);
    std::vector<Expr> children;
    if (const auto* tuple = as<TupleNode>(&node)) {
      for (const Expr& field : tuple->fields()) children.push_back(restored(field, nullptr));
      return make_tuple(std::move(children), info);
    }
    const auto& call = static_cast<const CallNode&>(node);
    for (const Expr& arg : call.args()) children.push_back(restored(arg, &call));
    return make_call(as<CallNode>(rebuilt)->callee(), std::move(children), call.attrs(), info);
  }

  template <class Visit>
  static void for_each_child_of(const ExprNode& node, Visit&& visit) {
    if (const auto* function = as<FunctionNode>(&node))
      visit(function->body());
    else if (const auto* let = as<LetNode>(&node))
      visit(let->value()), visit(let->body());
    else if (const auto* branch = as<IfNode>(&node))
      visit(branch->condition()), visit(branch->then()), visit(branch->otherwise());
    else if (const auto* tuple = as<TupleNode>(&node))
      std::ranges::for_each(tuple->fields(), visit);
    else if (const auto* call = as<CallNode>(&node))
      std::ranges::for_each(call->args(), visit);
  }

  // ---- Calls of operators

  Expr rewrite_call(const CallNode& call, const Expr& rebuilt) {
    if (const auto altered = alter_(call)) return alter(call, *altered);
    const States inputs = input_states(call);
    if (!any_changed(inputs)) return rebuilt;
    const LayoutRule* rule = layout_rule_of(*call.op());
    auto plan = rule ? rule->plan(call, inputs) : std::nullopt;
    if (!plan) return restore_children(call, rebuilt);
    const std::string wants =
        plan->outputs[0].now ? "computes in " + plan->outputs[0].now->str() : "computes as it is";
    Attrs attrs = plan->attrs ? plan->attrs : call.attrs();
    return finish(call, call.callee(), std::move(attrs), *plan, {}, wants);
  }

  Expr alter(const CallNode& call, const AlteredCall& altered) {
    const OpDef* op = find_op(altered.op);
    BATON_CHECK(op, "no operator " + altered.op);
    return finish(call, op_expr(*op), altered.plan.attrs, altered.plan, altered.prepare, altered.wants);
  }

  Expr finish(const CallNode& call, const Expr& callee, Attrs attrs, const LayoutPlan& plan,
              const std::vector<std::function<Expr(const Expr&)>>& prepare, const std::string& wants) {
    const OriginSet made = made_for(call, wants);
    std::vector<Expr> args;
    size_t at = 0;
    for (size_t i = 0; i < call.args().size(); ++i) {
      std::vector<Expr> fields;
      for (const Slot& slot : slots(call.args()[i])) {
        const OriginScope scope(made);
        Expr field = convert(slot, plan.inputs.at(at++));
        if (i < prepare.size() && prepare[i]) field = prepare[i](field);
        fields.push_back(std::move(field));
      }
      const bool is_tuple = as_type<TupleTypeNode>(call.args()[i]->checked_type());
      args.push_back(is_tuple
                         ? make_tuple(std::move(fields), NodeInfo(OriginSet::none(), call.args()[i]->span()))
                         : fields.at(0));
    }
    if (any_changed(plan.outputs)) states_.insert(&call, plan.outputs);
    return make_call(callee, std::move(args), std::move(attrs), call.with_type({}));
  }

  static OriginSet made_for(const CallNode& call, const std::string& wants) {
    return call.origins().empty() ? OriginSet::none()
                                  : OriginSet::made_for(call.origins(), place_of(call) + " " + wants);
  }

  States input_states(const CallNode& call) const {
    States states;
    for (const Expr& arg : call.args()) {
      const States* known = states_.find(arg.get());
      const auto* tuple = as_type<TupleTypeNode>(arg->checked_type());
      if (known)
        states.insert(states.end(), known->begin(), known->end());
      else
        states.resize(states.size() + (tuple ? tuple->fields().size() : 1));
    }
    return states;
  }

  /// The tensors of `original`, as rewritten.
  std::vector<Slot> slots(const Expr& original) {
    const Expr now = mapped(original);
    const States* states = states_.find(original.get());
    const auto* tuple_type = as_type<TupleTypeNode>(original->checked_type());
    if (!tuple_type) return {{now, states ? states->front() : LayoutState{}, tensor_type_of(original)}};
    std::vector<Slot> result;
    for (size_t i = 0; i < tuple_type->fields().size(); ++i) {
      const auto* tuple = as<TupleNode>(now);
      const Expr field =
          tuple ? tuple->fields()[i]
                : make_tuple_get_item(now, static_cast<int>(i), NodeInfo(OriginSet::none(), now->span()));
      result.push_back(
          {field, states ? (*states)[i] : LayoutState{}, as_type<TensorTypeNode>(tuple_type->fields()[i])});
    }
    return result;
  }

  // ---- Changing layouts

  /// `original` as rewritten, in the layouts of the program. `user`: who wants it so; null: a result, a
  /// branch, ...
  Expr restored(const Expr& original, const CallNode* user) {
    const States* states = states_.find(original.get());
    if (!states) return mapped(original);
    const OriginSet made = user && !user->origins().empty()
                               ? made_for(*user, "computes in the layout of the program")
                               : returned(original);
    const OriginScope scope(made);
    std::vector<Expr> fields;
    for (const Slot& slot : slots(original)) fields.push_back(convert(slot, {}));
    if (!as_type<TupleTypeNode>(original->checked_type())) return fields.at(0);
    return make_tuple(std::move(fields), NodeInfo(OriginSet::none(), original->span()));
  }

  /// For a layout_transform of a result: because of the call that makes it.
  OriginSet returned(const Expr& original) const {
    const ExprNode* at = original.get();
    while (const auto* item = as<TupleGetItemNode>(at)) at = item->tuple().get();
    OriginSet causes = at->origins();
    if (const auto* tuple = as<TupleNode>(at))
      for (const Expr& field : tuple->fields()) causes = causes.merge(field->origins());
    if (causes.empty()) return OriginSet::none();
    return OriginSet::made_for(causes, "the result is wanted in the layout of the program");
  }

  Expr convert(const Slot& slot, const LayoutState& want) {
    if (!want.now)
      return slot.state.changed() ? transform(slot.expr, *slot.state.now, *slot.state.was) : slot.expr;
    const Layout& from = slot.state.now ? *slot.state.now : *want.was;
    if (from == *want.now) return slot.expr;
    const int missing = slot.type && !slot.state.now ? want.was->rank() - slot.type->rank() : 0;
    if (missing <= 0) return transform(slot.expr, from, *want.now);
    Expr& wide = widened_[{slot.expr.get(), missing}];
    if (!wide) {
      wide = call_op("expand_dims", {slot.expr}, {{"axis", 0}, {"num_newaxis", missing}});
      kept_.push_back(slot.expr);
    }
    return transform(wide, from, *want.now);
  }

  /// layout_transform(expr), made once; one that undoes another is not made.
  Expr transform(const Expr& expr, const Layout& from, const Layout& to) {
    if (from == to) return expr;
    if (const Made* made = made_.find(expr.get())) {
      const Made source = *made;
      return transform(source.source, source.layout, to);
    }
    Expr& result = transformed_[{expr.get(), to.str()}];
    if (result) return result;
    result = call_op("layout_transform", {expr}, {{"src_layout", from.str()}, {"dst_layout", to.str()}});
    kept_.push_back(expr);
    made_.insert(result.get(), {expr, from});
    return result;
  }

  struct Made {
    Expr source;
    Layout layout;  ///< of the source
  };
  const Alterer& alter_;
  PointerMap<States> states_;  // by the node of the program; absent: as in the program
  PointerMap<Made> made_;      // by layout_transform
  std::map<std::pair<const ExprNode*, std::string>, Expr> transformed_;
  std::map<std::pair<const ExprNode*, int>, Expr> widened_;
  std::vector<Expr> kept_;  // the maps name nodes by address: they must stay alive
};

}  // namespace

Function change_layouts(const Function& function, const Alterer& alter) {
  return as_ref<FunctionNode>(LayoutRewriter(alter).run(function));
}

}  // namespace baton
