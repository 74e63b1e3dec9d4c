// Inlines non-recursive module functions with Inline=1, where they are called and where they are values:
//   def @f(%x, Inline=1) { exp(%x) }  @f(z)  ->  exp(z)     @map(@f, z)  ->  @map(fn (%x) { exp(%x) }, z)
// For an external-compiler function, the function literal replaces its name, so that the call remains. Every
// inlined copy but the first gets fresh variables. Inlined functions are removed from the module; those that
// no function names are its entries, and stay.

#include <map>
#include <set>

#include "baton/ir/analysis/call_graph.h"
#include "baton/ir/build.h"
#include "baton/ir/variables.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/transform/own_variables.h"

namespace baton {

namespace {

bool wants_inlining(const Function& function) {
  const AttrValue* value = function ? function->attr("Inline") : nullptr;
  const int64_t* number = value ? value->as<int64_t>() : nullptr;
  return number && *number != 0;
}

using ReadyFunctions = std::map<std::string, Function>;

class Inliner final : public Rewriter {
 public:
  Inliner(const Expr& root, const ReadyFunctions& ready, std::set<std::string>& used)
      : ready_(ready), used_(used) {
    if (ready.empty()) return;
    post_order(root, [&](const Expr& node) {
      bool is_callee = node->kind() == ExprKind::kCall;  // the callee is the first child
      for_each_child(*node, [&](const Expr& child) {
        if (!is_callee && child->kind() == ExprKind::kGlobalVar) values_.insert(child.get());
        is_callee = false;
      });
    });
  }

 private:
  bool enter(const Expr&) override { return true; }

  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    if (original->kind() == ExprKind::kGlobalVar) {
      const Function* function = values_.contains(original.get()) ? ready(original) : nullptr;
      return function ? own_copy(original, Expr(*function), {}) : original;
    }
    const auto* call = as<CallNode>(original);
    const Function* function = call ? ready(call->callee()) : nullptr;
    if (!function) return rebuilt;
    const std::vector<Expr>& args = as<CallNode>(rebuilt)->args();
    if ((*function)->attr("Compiler"))
      return make_call(Expr(*function), args, call->attrs(), original->info());
    std::unordered_map<const ExprNode*, Expr> values;
    for (size_t i = 0; i < args.size(); ++i) values.emplace((*function)->params()[i].get(), args[i]);
    return own_copy(call->callee(), (*function)->body(), values);
  }

  const Function* ready(const Expr& name) const {
    const auto* global = as<GlobalVarNode>(name);
    const auto at = global ? ready_.find(global->name()) : ready_.end();
    return at == ready_.end() ? nullptr : &at->second;
  }

  // A variable is bound only once in a module.
  Expr own_copy(const Expr& name, const Expr& expr,
                const std::unordered_map<const ExprNode*, Expr>& values) const {
    const bool again = !used_.insert(as<GlobalVarNode>(name)->name()).second && !bound_vars(expr).empty();
    return again ? with_own_variables(expr, values) : substitute(expr, values);
  }

  const ReadyFunctions& ready_;
  std::set<std::string>& used_;  // functions inlined at least once
  PointerSet values_;            // names that are not only called
};

}  // namespace

Pass inline_globals() {
  return module_pass(
      {1, "InlineGlobals", {}},
      [](IRModule module, const PassContext&) {
        const CallGraph graph(*module);
        ReadyFunctions ready;
        std::set<std::string> used;
        for (const std::string& name : graph.order()) {
          const Function function = module->find(name);
          const Function inlined =
              as_ref<FunctionNode>(Inliner(Expr(function), ready, used).run(Expr(function)));
          if (inlined != function) module->set(name, inlined);
          if (wants_inlining(inlined) && graph.references(name) > 0 && !graph.calls_itself(name))
            ready.emplace(name, inlined);
        }
        for (const auto& [name, function] : ready) {
          retire_all(Expr(function), "it is inlined wherever it is used");  // the copies keep theirs
          module->remove(name);
        }
        return module;
      },
      /*may_retire=*/true);
}

}  // namespace baton
