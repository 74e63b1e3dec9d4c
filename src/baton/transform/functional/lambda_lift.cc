// Nested functions become module functions, named by their hash:
//   fn (%y) { exp(%y) }  ->  @lifted_name1234
// One that captures variables takes them as parameters and returns the closure (Closure=1):
//   fn (%y) { add(%y, %x) }  ->  @lifted_name5678(%x)
//   def @lifted_name5678(%x, Closure=1) { fn (%y) { add(%y, %x) } }
// A recursive reference in its own value becomes the same:
//   let %f = fn ..%f..  ->  let %f = @lifted_name9(%x), inside ..@lifted_name9(%x)..
// Equal functions are merged. Primitive functions and those for external compilers are not lifted.

#include <algorithm>
#include <map>
#include <set>

#include "baton/ir/functions.h"
#include "baton/ir/structural.h"
#include "baton/ir/variables.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/transform/merge_origins.h"
#include "baton/transform/own_variables.h"

namespace baton {

namespace {

/// Lifted functions equal to one already in the module, by its name, whose origins are merged into it.
using Twins = std::map<std::string, std::vector<Expr>>;

class Lifter final : public Rewriter {
 public:
  Lifter(const Function& root, IRModuleNode& module, Twins& twins)
      : root_(root), module_(module), twins_(twins) {
    // The code of a closure function is not lifted again.
    if (root->attr("Closure")) code_ = root->body().get();
  }

 private:
  struct Lifted {
    std::vector<Var> captured;
    std::vector<TypeVar> type_params;
    GlobalVar name;
  };

  bool lifts(const Expr& node) const {
    const auto* function = as<FunctionNode>(node);
    return function && node != Expr(root_) && node.get() != code_ && !is_closed(*function);
  }

  bool enter(const Expr& node) override {
    if (const auto* let = as<LetNode>(node); let && lifts(let->value())) {
      const std::vector<Var> free = free_vars(let->value());
      // A recursive function: its name is needed before it is lifted.
      if (std::find(free.begin(), free.end(), let->var()) != free.end()) {
        Lifted lifted = describe(let->value(), free, let->var().get());
        lifted.name = module_.global_var(fresh_name(let->value()));
        map(Expr(let->var()), value_of(lifted));
        recursive_.insert(let->value().get(), std::move(lifted));
      }
    }
    return Rewriter::enter(node);
  }

  // After the value, the variable is no longer replaced.
  void let_value(const LetNode& let, const Expr&) override {
    if (recursive_.contains(let.value().get())) map(Expr(let.var()), Expr(let.var()));
  }

  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    if (!lifts(original)) return rebuilt;
    const Lifted* named = recursive_.find(original.get());
    Lifted lifted = named ? *named : describe(original, free_vars(original), nullptr);
    const Function function = close(as_ref<FunctionNode>(rebuilt), lifted);
    if (named) {
      module_.set(lifted.name->name(), function);
    } else {
      lifted.name = known(original, function);
    }
    return value_of(lifted);
  }

  // The captures of a function; uses of an enclosing recursive function are already calls.
  Lifted describe(const Expr& function, const std::vector<Var>& free, const VarNode* self) const {
    Lifted lifted;
    const auto add = [&](const Var& var) {
      if (std::find(lifted.captured.begin(), lifted.captured.end(), var) == lifted.captured.end())
        lifted.captured.push_back(var);
    };
    for (const Var& var : free) {
      if (var.get() == self) continue;
      const Expr became = mapped(Expr(var));
      if (const Var same = as_ref<VarNode>(became))
        add(same);
      else
        for (const Var& inner : free_vars(became)) add(inner);
    }
    lifted.type_params = free_type_vars(function);
    return lifted;
  }

  static Expr value_of(const Lifted& lifted) {
    if (lifted.captured.empty() && lifted.type_params.empty()) return Expr(lifted.name);
    return make_call(Expr(lifted.name), std::vector<Expr>(lifted.captured.begin(), lifted.captured.end()), {},
                     NodeInfo(OriginSet::none()));
  }

  static Function close(const Function& function, const Lifted& lifted) {
    if (lifted.captured.empty() && lifted.type_params.empty()) return function;
    std::vector<Var> params;
    std::unordered_map<const ExprNode*, Expr> values;
    for (const Var& var : lifted.captured) {
      params.push_back(make_var(var->name(), type_of(*var), NodeInfo(OriginSet::none(), var->span())));
      values.emplace(var.get(), Expr(params.back()));
    }
    std::vector<Type> inputs;
    for (const Var& param : function->params()) inputs.push_back(type_of(*param));
    const bool typed = function->ret_type() &&
                       std::all_of(inputs.begin(), inputs.end(), [](const Type& type) { return bool(type); });
    const Type result = typed ? func_type(inputs, function->ret_type(), function->type_params()) : Type();
    return make_function(std::move(params), substitute(Expr(function), values), result,
                         {{"Closure", int64_t{1}}}, NodeInfo(OriginSet::none(), function->span()),
                         lifted.type_params);
  }

  std::string fresh_name(const Expr& function) const {
    const std::string name = "lifted_name" + std::to_string(structural_hash(function));
    std::string fresh = name;
    for (int i = 1; module_.find(fresh) || taken_.count(fresh); ++i) fresh = name + "_" + std::to_string(i);
    taken_.insert(fresh);
    return fresh;
  }

  // The module function equal to `function`.
  GlobalVar known(const Expr& original, const Function& function) {
    const std::string name = "lifted_name" + std::to_string(structural_hash(original));
    if (const Function same = module_.find(name); same && structural_equal(Expr(same), Expr(function))) {
      twins_[name].push_back(Expr(function));
      return module_.global_var(name);
    }
    const std::string fresh = fresh_name(original);
    module_.set(fresh, function);
    return module_.global_var(fresh);
  }

  Function root_;
  IRModuleNode& module_;
  Twins& twins_;
  const ExprNode* code_ = nullptr;
  PointerMap<Lifted> recursive_;         // by the let's value
  mutable std::set<std::string> taken_;  // names reserved for functions not lifted yet
};

}  // namespace

Pass lambda_lift() {
  return module_pass({1, "LambdaLift", {}}, [](IRModule module, const PassContext&) {
    auto functions = module->functions();
    Twins twins;
    for (auto& [name, function] : functions) {
      if (is_closed(*function)) continue;
      const Function result = as_ref<FunctionNode>(Lifter(function, *module, twins).run(Expr(function)));
      if (result != function) module->replace(name, function = result);
    }
    if (module->functions().size() > functions.size()) separate_variables(*module, functions);
    for (const auto& [name, equal] : twins)
      module->set(name, as_ref<FunctionNode>(merge_origins(Expr(module->find(name)), equal)));
    return module;
  });
}

}  // namespace baton
