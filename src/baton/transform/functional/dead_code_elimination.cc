// Removes lets whose variable is unused and whose value has no side effect:
//   let a = exp(x); let b = log(x); a  ->  let a = exp(x); a
// With inline_once, values used once are inlined, but not into a function, which may be called repeatedly.
// Side effects: stateful operators; calls of unknown functions (parameters, external compilers) and of
// functions that have side effects; creating, reading and writing references. A recursive call has those that
// the function has otherwise: that it may not end is none.

#include <utility>

#include "baton/ir/analysis/call_graph.h"
#include "baton/ir/op.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"

namespace baton {

namespace {

using FunctionEffects = std::map<std::string, bool>;

/// Whether evaluating an expression, or calling its value, may have a side effect.
class Effects {
 public:
  Effects(const Expr& root, const FunctionEffects& functions) : functions_(functions) {
    post_order(root, [&](const Expr& node) {
      if (const auto* let = as<LetNode>(node)) values_.insert(let->var().get(), let->value().get());
    });
    // Functions that call themselves are assumed to have no effect until one is found.
    find(root);
    while (recursive_ && find(root)) {
    }
  }
  bool in_evaluating(const Expr& expr) const { return effects_.find(expr.get())->evaluating; }

 private:
  struct Effect {
    bool evaluating = false, calling = true;
    bool operator==(const Effect&) const = default;
  };

  /// One round over `root`; whether an effect was found that the rounds before had missed.
  bool find(const Expr& root) {
    bool more = false;
    post_order(root, [&](const Expr& node) {
      const Effect effect = effects_of(*node);
      const auto [at, fresh] = effects_.insert(node.get(), effect);
      more = more || !(fresh || *at == effect);
      *at = effect;
    });
    return more;
  }

  Effect known(const Expr& expr) {
    const ExprNode* node = expr.get();
    const ExprNode* const* value = values_.find(node);
    if (!value) return effects_.contains(node) ? *effects_.find(node) : Effect{};
    // Inside its own value a function is not bound yet: the use is a recursion.
    const Effect* effect = effects_.find(*value);
    recursive_ = recursive_ || !effect;
    return {false, effect && effect->calling};
  }

  Effect effects_of(const ExprNode& node) {
    Effect effect;
    if (const auto* function = as<FunctionNode>(&node)) {
      effect.calling = function->attr("Compiler") || known(function->body()).evaluating;
      return effect;
    }
    if (const auto* global = as<GlobalVarNode>(&node)) {
      const auto at = functions_.find(global->name());
      effect.calling = at == functions_.end() || at->second;
      return effect;
    }
    if (const auto* op = as<OpNode>(&node)) return {false, op->def().stateful};
    if (node.kind() == ExprKind::kConstructor) return {false, false};
    // References have identity, and the result of a read depends on when it happens.
    effect.evaluating = node.kind() == ExprKind::kRefCreate || node.kind() == ExprKind::kRefRead ||
                        node.kind() == ExprKind::kRefWrite;
    for_each_child(node, [&](const Expr& child) { effect.evaluating |= known(child).evaluating; });
    if (const auto* call = as<CallNode>(&node)) effect.evaluating |= known(call->callee()).calling;
    if (const auto* let = as<LetNode>(&node)) effect.calling = known(let->body()).calling;
    if (const auto* branch = as<IfNode>(&node))
      effect.calling = known(branch->then()).calling || known(branch->otherwise()).calling;
    if (const auto* match = as<MatchNode>(&node)) {
      effect.calling = false;
      for (const Clause& clause : match->clauses()) effect.calling |= known(clause.body).calling;
    }
    return effect;
  }

  const FunctionEffects& functions_;
  PointerMap<const ExprNode*> values_;  // by let variable
  PointerMap<Effect> effects_;
  bool recursive_ = false;
};

/// The uses of let variables in live code.
class Uses {
 public:
  template <class MustKeep>
  Uses(const Expr& root, MustKeep must_keep) {
    PointerSet seen;
    std::vector<Place> todo{{root.get(), nullptr}};
    PointerMap<const ExprNode*> waiting;  // let values, by variable, until the variable is used
    while (!todo.empty()) {
      const auto [node, scope] = todo.back();
      todo.pop_back();
      if (node->kind() == ExprKind::kVar) {
        Use& use = uses_[node];
        use.in_function |= scope != use.scope;
        if (++use.count == 1)
          if (const ExprNode** value = waiting.find(node)) todo.push_back({*value, use.scope});
        continue;
      }
      if (!seen.insert(node)) continue;
      if (const auto* let = as<LetNode>(node)) {
        Use& use = uses_[let->var().get()];
        use.scope = scope;
        if (use.count > 0 || must_keep(let->value()))
          todo.push_back({let->value().get(), scope});
        else
          waiting.insert(let->var().get(), let->value().get());
        todo.push_back({let->body().get(), scope});
      } else if (const auto* function = as<FunctionNode>(node)) {
        todo.push_back({function->body().get(), node});
      } else {
        for_each_child(*node, [&](const Expr& child) { todo.push_back({child.get(), scope}); });
      }
    }
  }
  int of(const ExprNode* var) const {
    const Use* use = uses_.find(var);
    return use ? use->count : 0;
  }
  /// Used once, in the function that binds it.
  bool once(const ExprNode* var) const {
    const Use* use = uses_.find(var);
    return use && use->count == 1 && !use->in_function;
  }

 private:
  /// An expression, and the function whose body it is in.
  struct Place {
    const ExprNode *node, *scope;
  };
  struct Use {
    int count = 0;
    const ExprNode* scope = nullptr;  // where it is bound
    bool in_function = false;         // used in a function inside that scope
  };
  PointerMap<Use> uses_;
};

class Eliminator final : public Rewriter {
 public:
  Eliminator(const Expr& root, const Effects* effects, bool inline_once)
      : effects_(effects),
        inline_once_(inline_once),
        uses_(root, [&](const Expr& value) { return has_effect(value); }) {}

 private:
  bool has_effect(const Expr& value) const { return effects_ && effects_->in_evaluating(value); }
  bool is_dead(const LetNode& let) const {
    return uses_.of(let.var().get()) == 0 && !has_effect(let.value());
  }
  bool is_inlined(const LetNode& let) const {
    return inline_once_ && uses_.once(let.var().get()) && !has_effect(let.value());
  }

  void let_value(const LetNode& let, const Expr& value) override {
    if (is_inlined(let)) map(Expr(let.var()), value);
    if (!is_dead(let)) return;
    post_order(let.value(), [](const Expr& node) { retire(node->origins(), "the value is not used"); });
  }

  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const auto* let = as<LetNode>(original);
    return let && (is_dead(*let) || is_inlined(*let)) ? as<LetNode>(rebuilt)->body() : rebuilt;
  }

  const Effects* effects_;  // null: nothing has side effects
  bool inline_once_;
  Uses uses_;
};

// The side effects of calling each function of the module, in rounds as long as functions that call each
// other may find more.
FunctionEffects effects_of(const IRModuleNode& module) {
  const CallGraph graph(module);
  FunctionEffects effects;
  bool recursive = false, changed = true;
  for (const std::string& name : graph.order()) {
    effects[name] = module.find(name)->attr("Compiler") != nullptr;
    recursive = recursive || graph.calls_itself(name);
  }
  while (std::exchange(changed, false)) {
    for (const std::string& name : graph.order()) {
      const Function function = module.find(name);
      if (effects[name] || !Effects(function->body(), effects).in_evaluating(function->body())) continue;
      effects[name] = true;
      changed = recursive;
    }
  }
  return effects;
}

}  // namespace

Pass dead_code_elimination(const PassArgs& args) {
  PassArgReader reader("DeadCodeElimination", args);
  const bool inline_once = reader.flag("inline_once", false);
  const bool ignore_impurity = reader.flag("ignore_impurity", false);
  reader.finish();
  return module_pass(
      {1, "DeadCodeElimination", {"InferType"}},
      [=](IRModule module, const PassContext&) {
        const FunctionEffects functions = ignore_impurity ? FunctionEffects() : effects_of(*module);
        const auto all = module->functions();
        for (const auto& [name, function] : all) {
          if (function->attr("Compiler")) continue;
          const Expr root(function);
          std::optional<Effects> effects;
          if (!ignore_impurity) effects.emplace(root, functions);
          const Function result =
              as_ref<FunctionNode>(Eliminator(root, effects ? &*effects : nullptr, inline_once).run(root));
          if (result != function) module->set(name, result);
        }
        return module;
      },
      /*may_retire=*/true);
}

}  // namespace baton
