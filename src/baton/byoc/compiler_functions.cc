// Moves external compilers' functions between literals at their calls and named functions of the module.
//   OutlineCompilerFunctionsWithExistingGlobalSymbols:  fn(p, Compiler="c", global_symbol="f") { relu(p) }(x)
//   -> @f(x) MarkCompilerFunctionsAsExtern:  def @f(p, Compiler="c", ...)  ->  def @f(p, Extern=1)
//   InlineCompilerFunctionsBoundTo:  @f(x)  ->  relu(x), composite functions inside it too

#include <algorithm>
#include <map>
#include <set>

#include "baton/byoc/annotation.h"
#include "baton/ir/structural.h"
#include "baton/ir/variables.h"
#include "baton/ir/visit.h"
#include "baton/pass/inline_call.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/support/error.h"

namespace baton {

namespace {

/// Whether `function` is for external compiler `filter`; for any when that is empty.
bool is_for(const FunctionNode& function, const std::string& filter) {
  const std::string compiler = text_attr(function, "Compiler");
  return !compiler.empty() && (filter.empty() || compiler == filter);
}

/// The symbol of a function literal to be outlined; empty otherwise.
std::string symbol_of(const Expr& callee, const std::string& filter) {
  const auto* function = as<FunctionNode>(callee);
  return function && is_for(*function, filter) ? text_attr(*function, "global_symbol") : std::string();
}

std::vector<Call> operator_calls(const Expr& root) {
  std::vector<Call> calls;
  post_order(root, [&](const Expr& expr) {
    if (const auto* call = as<CallNode>(expr); call && call->op()) calls.emplace_back(call);
  });
  return calls;
}

/// Replaces the origins of operator calls in a function.
class OriginChanger final : public Rewriter {
 public:
  explicit OriginChanger(const std::map<const ExprNode*, OriginSet>& origins) : origins_(origins) {}

 private:
  bool enter(const Expr&) override { return true; }
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const auto at = origins_.find(original.get());
    if (at == origins_.end()) return rebuilt;
    const auto& call = static_cast<const CallNode&>(*rebuilt);
    return make_call(call.callee(), call.args(), call.attrs(),
                     NodeInfo(at->second, call.span(), original->checked_type()));
  }
  const std::map<const ExprNode*, OriginSet>& origins_;
};

/// One function for several equal ones, with their origins merged.
Function standing_for_all(const std::vector<Function>& equal) {
  if (equal.size() == 1) return equal[0];
  const Function& first = equal[0];
  const std::vector<Call> calls = operator_calls(Expr(first));
  std::map<const ExprNode*, OriginSet> origins;
  std::vector<OriginSet> all{first->origins()};
  for (const Call& call : calls) origins.emplace(call.get(), call->origins());
  for (size_t i = 1; i < equal.size(); ++i) {
    all.push_back(equal[i]->origins());
    const std::vector<Call> others = operator_calls(Expr(equal[i]));
    for (size_t at = 0; at < calls.size(); ++at) {
      OriginSet& set = origins.at(calls[at].get());
      // Equal functions may share nodes differently: then calls cannot be paired, and each call gets all
      // origins.
      if (others.size() == calls.size())
        set = set.merge(others[at]->origins());
      else
        for (const Call& other : others) set = set.merge(other->origins());
    }
  }
  const Function merged = as_ref<FunctionNode>(OriginChanger(origins).run(Expr(first)));
  return make_function(merged->params(), merged->body(), merged->ret_type(), merged->attrs(),
                       NodeInfo(OriginSet::merge_all(all), merged->span(), first->checked_type()),
                       merged->type_params());
}

class Outliner final : public Rewriter {
 public:
  Outliner(IRModuleNode& module, const std::string& filter) : module_(module), filter_(filter) {}

 private:
  // Functions to be outlined are not entered.
  bool enter(const Expr& node) override { return symbol_of(node, filter_).empty(); }

  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const auto* call = as<CallNode>(rebuilt);
    const std::string symbol = call ? symbol_of(call->callee(), filter_) : std::string();
    if (symbol.empty()) return rebuilt;
    return make_call(Expr(module_.global_var(symbol)), call->args(), call->attrs(),
                     NodeInfo(module_.find(symbol)->origins(), original->span(), original->checked_type()));
  }

  IRModuleNode& module_;
  const std::string& filter_;
};

/// The function literals to be outlined, grouped by symbol.
std::map<std::string, std::vector<Function>> literals_by_symbol(const IRModuleNode& module,
                                                                const std::string& filter) {
  std::map<std::string, std::vector<Function>> found;
  for (const auto& [name, function] : module.functions()) {
    if (is_for(*function, filter)) continue;
    const auto visit = [&](const Expr& expr) {
      const auto* call = as<CallNode>(expr);
      const std::string symbol = call ? symbol_of(call->callee(), filter) : std::string();
      if (symbol.empty()) return;
      const Function literal = as_ref<FunctionNode>(call->callee());
      const std::string whose =
          "the function for `" + text_attr(*literal, "Compiler") + "` with global_symbol \"" + symbol + "\"";
      if (const auto free = free_vars(Expr(literal)); !free.empty())
        throw UsageError(whose + " cannot leave its place: it uses %" + free[0]->name() + " from outside");
      std::vector<Function>& same = found[symbol];
      if (same.empty() && module.find(symbol)) same.push_back(module.find(symbol));
      if (std::find(same.begin(), same.end(), literal) != same.end()) return;
      if (!same.empty() && !structural_equal(Expr(same[0]), Expr(literal)))
        throw UsageError(whose + " differs from another one with that symbol");
      same.push_back(literal);
    };
    post_order(Expr(function), visit, [&](const Expr& expr) { return symbol_of(expr, filter).empty(); });
  }
  return found;
}

// Inlines composite functions in an inlined function.
class CompositeInliner final : public Rewriter {
  bool enter(const Expr&) override { return true; }
  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    const auto* call = as<CallNode>(rebuilt);
    const auto* function = call ? as<FunctionNode>(call->callee()) : nullptr;
    if (!function || !function->attr("Composite")) return rebuilt;
    return inlined_call(*function, call->args());
  }
};

class GlobalCallInliner final : public Rewriter {
 public:
  /// `called`: collects the names of inlined functions.
  GlobalCallInliner(const std::map<std::string, Function>& functions, std::set<std::string>& called)
      : functions_(functions), called_(called) {}

 private:
  bool enter(const Expr&) override { return true; }
  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    const auto* call = as<CallNode>(rebuilt);
    const auto* global = call ? as<GlobalVarNode>(call->callee()) : nullptr;
    const auto at = global ? functions_.find(global->name()) : functions_.end();
    if (at == functions_.end()) return rebuilt;
    called_.insert(at->first);
    return inlined_call(*at->second, call->args());
  }
  const std::map<std::string, Function>& functions_;
  std::set<std::string>& called_;
};

}  // namespace

Pass outline_compiler_functions(const PassArgs& args) {
  PassArgReader reader("OutlineCompilerFunctionsWithExistingGlobalSymbols", args);
  const std::string filter = reader.text("compiler_filter", "");
  reader.finish();
  return module_pass({0, "OutlineCompilerFunctions", {}}, [filter](IRModule module, const PassContext&) {
    const auto literals = literals_by_symbol(*module, filter);
    if (literals.empty()) return module;
    for (const auto& [symbol, equal] : literals) module->set(symbol, standing_for_all(equal));
    const auto functions = module->functions();
    for (const auto& [name, function] : functions) {
      if (literals.count(name)) continue;
      Function outlined = as_ref<FunctionNode>(Outliner(*module, filter).run(Expr(function)));
      if (outlined != function) module->replace(name, std::move(outlined));
    }
    return module;
  });
}

Pass mark_compiler_functions_as_extern(const PassArgs& args) {
  PassArgReader reader("MarkCompilerFunctionsAsExtern", args);
  const std::string filter = reader.text("compiler_filter", "");
  reader.finish();
  return module_pass({0, "MarkCompilerFunctionsAsExtern", {}}, [filter](IRModule module, const PassContext&) {
    const auto functions = module->functions();
    for (const auto& [name, function] : functions) {
      if (!is_for(*function, filter)) continue;
      module->replace(name, make_function(function->params(), function->body(), function->ret_type(),
                                          {{"Extern", 1}}, function->info(), function->type_params()));
    }
    return module;
  });
}

Pass inline_compiler_functions(const PassArgs& args) {
  PassArgReader reader("InlineCompilerFunctionsBoundTo", args);
  const std::vector<std::string> names = reader.texts("global_vars", {});
  reader.finish();
  return module_pass(
      {0, "InlineCompilerFunctions", {}},
      [names](IRModule module, const PassContext&) {
        std::map<std::string, Function> inlined;
        for (const std::string& name : names) {
          const Function function = module->find(name);
          if (!function)
            throw UsageError("InlineCompilerFunctionsBoundTo: the module has no function @" + name);
          inlined.emplace(name, as_ref<FunctionNode>(CompositeInliner().run(Expr(function))));
        }
        // Functions may call each other in any order; a cycle would never end.
        for (auto& [name, function] : inlined) {
          for (const auto& [other, unused] : inlined) {
            static_cast<void>(unused);
            bool named = false;
            post_order(Expr(function), [&](const Expr& expr) {
              const auto* global = as<GlobalVarNode>(expr);
              named |= global && global->name() == other;
            });
            if (named)
              throw UsageError("InlineCompilerFunctionsBoundTo: @" + name + " calls @" + other +
                               ", which is to be inlined as well");
          }
        }
        const auto functions = module->functions();
        std::set<std::string> called;
        for (const auto& [name, function] : functions) {
          if (inlined.count(name)) continue;
          Function updated = as_ref<FunctionNode>(GlobalCallInliner(inlined, called).run(Expr(function)));
          if (updated != function) module->replace(name, std::move(updated));
        }
        for (const auto& [name, function] : inlined) {
          module->remove(name);
          if (!called.count(name))
            post_order(Expr(function), [](const Expr& expr) {
              retire(expr->origins(), "a function that nobody calls was to be inlined");
            });
        }
        return module;
      },
      true);
}

}  // namespace baton
