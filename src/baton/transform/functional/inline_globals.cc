// Inlines calls of non-recursive module functions with Inline=1:
//   def @f(%x, Inline=1) { exp(%x) }  @f(z)  ->  exp(z)
// For an external-compiler function, the function literal replaces its name, so that the call remains. Every
// inlined copy but the first gets fresh variables. Functions without remaining calls are removed from the
// module.

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

class Inliner final : public Rewriter {
 public:
  Inliner(const std::map<std::string, Function>& ready, std::set<std::string>& used)
      : ready_(ready), used_(used) {}

 private:
  bool enter(const Expr&) override { return true; }

  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const auto* call = as<CallNode>(rebuilt);
    const auto* global = call ? as<GlobalVarNode>(call->callee()) : nullptr;
    const auto at = global ? ready_.find(global->name()) : ready_.end();
    if (at == ready_.end()) return rebuilt;
    const Function& function = at->second;
    if (function->attr("Compiler"))
      return make_call(Expr(function), call->args(), call->attrs(), original->info());
    std::unordered_map<const ExprNode*, Expr> values;
    for (size_t i = 0; i < call->args().size(); ++i)
      values.emplace(function->params()[i].get(), call->args()[i]);
    const bool again = !used_.insert(global->name()).second && !bound_vars(function->body()).empty();
    return again ? with_own_variables(function->body(), values) : substitute(function->body(), values);
  }

  const std::map<std::string, Function>& ready_;
  std::set<std::string>& used_;  // functions inlined at least once
};

}  // namespace

Pass inline_globals() {
  return module_pass(
      {1, "InlineGlobals", {}},
      [](IRModule module, const PassContext&) {
        const CallGraph graph(*module);
        std::map<std::string, Function> ready;
        std::set<std::string> used;
        for (const std::string& name : graph.order()) {
          const Function function = module->find(name);
          const Function inlined = as_ref<FunctionNode>(Inliner(ready, used).run(Expr(function)));
          if (inlined != function) module->set(name, inlined);
          if (wants_inlining(inlined) && !graph.calls_itself(name)) ready.emplace(name, inlined);
        }
        std::set<std::string> still_called;
        for (const auto& [name, function] : module->functions())
          still_called.merge(functions_named_by(function));
        for (const auto& [name, function] : ready) {
          if (still_called.count(name)) continue;
          retire_all(Expr(function),
                     "no function calls it, and it is marked Inline");  // inlined copies keep theirs
          module->remove(name);
        }
        return module;
      },
      /*may_retire=*/true);
}

}  // namespace baton
