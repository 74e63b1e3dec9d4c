#include "baton/ir/analysis/normal_form.h"

#include "baton/ir/functions.h"
#include "baton/ir/inspect.h"
#include "baton/ir/visit.h"
#include "baton/support/pointer_map.h"

namespace baton {

namespace {

using ScopeId = uint32_t;
constexpr ScopeId kNoScope = UINT32_MAX;

bool is_closed(const Expr& node) {
  const auto* function = as<FunctionNode>(node);
  return function && is_closed(*function);
}

/// Whether an on_device states the device of both its operand and its result.
bool fixes_device(const Expr& node) {
  const CallNode* place = call_of(node, "on_device");
  return place && bool_attr(*place, "constrain_body") && bool_attr(*place, "constrain_result");
}

/// The scope of every value: the innermost scope that encloses all its uses.
class Scopes {
 public:
  explicit Scopes(const Expr& root) {
    std::vector<Expr> order;
    post_order(
        root, [&](const Expr& node) { order.push_back(node); },
        [](const Expr& node) { return !is_closed(node); });
    scopes_.push_back({kNoScope, 0});
    of_[root.get()] = {0, false};
    // Users before their operands.
    for (auto node = order.rbegin(); node != order.rend(); ++node) enter(**node);
  }

  ScopeId of(const ExprNode* node) const { return of_.find(node)->scope; }
  /// Whether `node` has users in scopes nested inside its own.
  bool is_lifted(const ExprNode* node) const { return of_.find(node)->lifted; }
  /// The scope of the body (0), or of a branch (0, 1).
  ScopeId inner(const ExprNode* node, int which) const {
    return *inner_.find(node) + static_cast<ScopeId>(which);
  }
  size_t size() const { return scopes_.size(); }

 private:
  struct Scope {
    ScopeId parent;
    uint32_t depth;
  };
  struct Place {
    ScopeId scope = kNoScope;
    bool lifted = false;
  };

  void enter(const ExprNode& node) {
    const ScopeId scope = of(&node);
    if (const auto* function = as<FunctionNode>(&node)) {
      if (is_closed(Expr(&node))) return;
      const ScopeId body = open(node, scope, 1);
      for (const Var& param : function->params()) use(param.get(), body);  // `let %x = %param` stays inside
      use(function->body().get(), body);
    } else if (const auto* branch = as<IfNode>(&node)) {
      const ScopeId first = open(node, scope, 2);
      use(branch->condition().get(), scope);
      use(branch->then().get(), first);
      use(branch->otherwise().get(), first + 1);
    } else if (const auto* match = as<MatchNode>(&node)) {
      ScopeId clause_scope = open(node, scope, static_cast<int>(match->clauses().size()));
      use(match->data().get(), scope);
      for (const Clause& clause : match->clauses()) {
        // Those that the clause does not read have a place, too.
        for (const Var& var : pattern_vars(clause.pattern)) use(var.get(), clause_scope);
        use(clause.body.get(), clause_scope++);
      }
    } else {
      for_each_child(node, [&](const Expr& child) { use(child.get(), scope); });
    }
  }

  ScopeId open(const ExprNode& node, ScopeId parent, int count) {
    const auto first = static_cast<ScopeId>(scopes_.size());
    inner_.insert(&node, first);
    for (int i = 0; i < count; ++i) scopes_.push_back({parent, scopes_[parent].depth + 1});
    return first;
  }

  void use(const ExprNode* value, ScopeId scope) {
    Place& place = of_[value];
    if (place.scope == kNoScope) {
      place.scope = scope;
      return;
    }
    const ScopeId common = common_scope(place.scope, scope);
    place.lifted |= common != place.scope || common != scope;
    place.scope = common;
  }

  ScopeId common_scope(ScopeId a, ScopeId b) const {
    while (a != b) {
      if (scopes_[a].depth < scopes_[b].depth) std::swap(a, b);
      a = scopes_[a].parent;
    }
    return a;
  }

  std::vector<Scope> scopes_;
  PointerMap<Place> of_;
  PointerMap<ScopeId> inner_;
};

/// Visits values in evaluation order and appends each binding to the list of its value's scope.
class Binder {
 public:
  Binder(const Function& function, NormalForm form, uint64_t& next)
      : form_(form), next_(next), scopes_(Expr(function)), lists_(scopes_.size()) {}

  Function run(const Function& function) {
    visit(function->body());
    const Expr body = close(scopes_.inner(function.get(), 0), *done_.find(function->body().get()));
    if (body == function->body()) return function;
    return remake_function(*function, function->params(), body);
  }

 private:
  struct Binding {
    Var var;
    Expr value;
  };
  // A value being built: its operands in evaluation order, and its let variable (or null).
  struct Frame {
    Expr node;
    Var var;
    std::vector<Expr> operands;
    bool first_is_new = false;  // the first operand was built for this value
  };
  struct Operand {
    const Expr* expr = nullptr;  // null: no operand
    Var var;
    ScopeId scope = kNoScope;  // the scope whose bindings wrap the operand
  };

  void visit(const Expr& root) {
    std::vector<Frame> stack;
    stack.push_back({root, {}, {}});
    while (!stack.empty()) {
      Frame& frame = stack.back();
      const Operand operand = next(frame);
      if (!operand.expr) {
        Expr value = finish(frame);
        done_.insert(frame.node.get(), std::move(value));
        stack.pop_back();
        continue;
      }
      const Expr* done = done_.find(operand.expr->get());
      if (!done) {
        frame.first_is_new |= frame.operands.empty();
        stack.push_back({*operand.expr, operand.var, {}});
        continue;
      }
      // The let's value is already bound: its variable becomes an alias of that binding.
      const bool named_already = !operand.var || *done == Expr(operand.var);
      if (!named_already) bind(*operand.expr, operand.var, *done);
      Expr value = named_already ? *done : Expr(operand.var);
      if (operand.scope != kNoScope) value = close(operand.scope, value);
      frame.operands.push_back(std::move(value));
    }
  }

  Operand next(const Frame& frame) const {
    const ExprNode& node = *frame.node;
    const size_t at = frame.operands.size();
    if (const auto* call = as<CallNode>(&node)) {
      // The callee is evaluated last.
      if (at == call->args().size()) return {&call->callee(), {}};
      return {child(node, at + 1), {}};
    }
    const auto* function = as<FunctionNode>(&node);
    if (function && is_closed(frame.node)) return {};
    const auto* let = as<LetNode>(&node);
    const bool branches = node.kind() == ExprKind::kIf || node.kind() == ExprKind::kMatch;
    Operand operand{child(node, at), let && at == 0 ? let->var() : Var()};
    if (operand.expr && function) operand.scope = scopes_.inner(&node, 0);
    if (operand.expr && branches && at > 0) operand.scope = scopes_.inner(&node, static_cast<int>(at) - 1);
    return operand;
  }

  // All operands are done: returns the value, or the variable it is bound to.
  Expr finish(const Frame& frame) {
    const Expr& node = frame.node;
    const auto& operands = frame.operands;
    switch (node->kind()) {
      case ExprKind::kVar:
      case ExprKind::kGlobalVar:
      case ExprKind::kConstructor:
      case ExprKind::kOp:
        return frame.var ? bind(node, frame.var, node) : node;
      case ExprKind::kConstant:
        return named(frame, node);
      case ExprKind::kTuple:
        return named(frame, same(static_cast<const TupleNode&>(*node).fields(), operands)
                                ? node
                                : make_tuple(operands, node->with_type({})));
      case ExprKind::kTupleGetItem: {
        const auto& item = static_cast<const TupleGetItemNode&>(*node);
        return named(frame, item.tuple() == operands[0]
                                ? node
                                : make_tuple_get_item(operands[0], item.index(), node->with_type({})));
      }
      case ExprKind::kCall: {
        const auto& call = static_cast<const CallNode&>(*node);
        std::vector<Expr> args(operands.begin(), operands.end() - 1);
        if (frame.first_is_new && fixes_device(node))
          if (const Expr bound = bind_on_device(frame, call, args[0])) return bound;
        if (call.callee() == operands.back() && same(call.args(), args)) return named(frame, node);
        return named(frame, make_call(operands.back(), std::move(args), call.attrs(), node->with_type({})));
      }
      case ExprKind::kFunction: {
        const auto& function = static_cast<const FunctionNode&>(*node);
        if (operands.empty() || operands[0] == function.body()) return named(frame, node);
        return named(frame, Expr(remake_function(function, function.params(), operands[0])));
      }
      // The let's value is bound; the body remains.
      case ExprKind::kLet:
        return named(frame, operands[1]);
      case ExprKind::kIf: {
        const auto& branch = static_cast<const IfNode&>(*node);
        if (same({branch.condition(), branch.then(), branch.otherwise()}, operands))
          return named(frame, node);
        return named(frame, make_if(operands[0], operands[1], operands[2], node->with_type({})));
      }
      case ExprKind::kMatch: {
        const auto& match = static_cast<const MatchNode&>(*node);
        bool changed = operands[0] != match.data();
        std::vector<Clause> clauses;
        for (size_t i = 0; i < match.clauses().size(); ++i) {
          clauses.push_back({match.clauses()[i].pattern, operands[i + 1]});
          changed |= operands[i + 1] != match.clauses()[i].body;
        }
        if (!changed) return named(frame, node);
        return named(frame,
                     make_match(operands[0], std::move(clauses), match.complete(), node->with_type({})));
      }
      case ExprKind::kRefCreate:
        if (operands[0] == static_cast<const RefCreateNode&>(*node).value()) return named(frame, node);
        return named(frame, make_ref_create(operands[0], node->with_type({})));
      case ExprKind::kRefRead:
        if (operands[0] == static_cast<const RefReadNode&>(*node).ref()) return named(frame, node);
        return named(frame, make_ref_read(operands[0], node->with_type({})));
      case ExprKind::kRefWrite: {
        const auto& write = static_cast<const RefWriteNode&>(*node);
        if (same({write.ref(), write.value()}, operands)) return named(frame, node);
        return named(frame, make_ref_write(operands[0], operands[1], node->with_type({})));
      }
    }
    return node;
  }

  static bool same(const std::vector<Expr>& a, const std::vector<Expr>& b) { return a == b; }

  Expr named(const Frame& frame, const Expr& value) {
    if (frame.var) return bind(frame.node, frame.var, value);
    if (form_ == NormalForm::kShared && !scopes_.is_lifted(frame.node.get())) return value;
    return bind(frame.node, fresh_var(), value);
  }

  // on_device(value, constrain_result=True)  ->  let x = on_device(value, constrain_result=True); x
  // The binding made for the operand gets the device: a value and its device are not bound separately. Null
  // when no binding was made.
  Expr bind_on_device(const Frame& frame, const CallNode& place, const Expr& operand) {
    const Expr& value = place.args()[0];
    auto& list = lists_[scopes_.of(value.get())];
    if (value->kind() == ExprKind::kVar || list.empty() || Expr(list.back().var) != operand) return {};
    if (frame.var) *done_.find(value.get()) = Expr(list.back().var = frame.var);
    list.back().value = make_call(place.callee(), {list.back().value}, place.attrs(), place.with_type({}));
    return Expr(list.back().var);
  }

  Expr bind(const Expr& node, const Var& var, const Expr& value) {
    lists_[scopes_.of(node.get())].push_back({var, value});
    return Expr(var);
  }

  // `value` wrapped in the bindings of `scope`.
  Expr close(ScopeId scope, Expr value) {
    auto& list = lists_[scope];
    for (auto binding = list.rbegin(); binding != list.rend(); ++binding)
      value = make_let(binding->var, binding->value, value, NodeInfo(OriginSet::none()));
    list.clear();
    return value;
  }

  Var fresh_var() { return make_var("x_" + std::to_string(next_++), {}, NodeInfo(OriginSet::none())); }

  NormalForm form_;
  uint64_t& next_;
  Scopes scopes_;
  std::vector<std::vector<Binding>> lists_;
  PointerMap<Expr> done_;
};

}  // namespace

Function to_normal_form(const Function& function, NormalForm form, uint64_t& next) {
  return Binder(function, form, next).run(function);
}

IRModule to_normal_form(IRModule module, NormalForm form) {
  uint64_t next = 0;
  const auto functions = module->functions();
  for (const auto& [name, function] : functions) {
    if (is_closed(Expr(function))) continue;
    const Function result = to_normal_form(function, form, next);
    if (result != function) module->replace(name, result);
  }
  return module;
}

}  // namespace baton
