// Calls of functions of the module that are marked Inline=1 and do not call themselves become their bodies:
//   def @f(%x, Inline=1) { exp(%x) }  @f(z)  ->  exp(z)
// For a function of another compiler the function itself takes the place of its name: it stays one call. Functions
// that nobody calls any more leave the module.

#include <map>
#include <set>

#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/transform/build.h"
#include "baton/transform/call_graph.h"

namespace baton {

namespace {

bool wants_inlining(const Function& function) {
  const AttrValue* value = function ? function->attr("Inline") : nullptr;
  const int64_t* number = value ? value->as<int64_t>() : nullptr;
  return number && *number != 0;
}

class Inliner final : public Rewriter {
 public:
  explicit Inliner(const std::map<std::string, Function>& ready) : ready_(ready) {}

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
    for (size_t i = 0; i < call->args().size(); ++i) values.emplace(function->params()[i].get(), call->args()[i]);
    return substitute(function->body(), values);
  }

  const std::map<std::string, Function>& ready_;
};

}  // namespace

Pass inline_globals() {
  return module_pass({1, "InlineGlobals", {}}, [](IRModule module, const PassContext&) {
    const CallGraph graph(*module);
    std::map<std::string, Function> ready;
    for (const std::string& name : graph.order()) {
      const Function function = module->find(name);
      const Function inlined = as_ref<FunctionNode>(Inliner(ready).run(Expr(function)));
      if (inlined != function) module->set(name, inlined);
      if (wants_inlining(inlined) && !graph.calls_itself(name)) ready.emplace(name, inlined);
    }
    std::set<std::string> still_called;
    for (const auto& [name, function] : module->functions()) still_called.merge(functions_named_by(function));
    for (const auto& [name, function] : ready) {
      if (still_called.count(name)) continue;
      retire_all(Expr(function), "no function calls it, and it is marked Inline");  // nothing where it was inlined
      module->remove(name);
    }
    return module;
  }, /*may_retire=*/true);
}

}  // namespace baton
