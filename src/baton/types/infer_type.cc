#include "baton/types/infer_type.h"

#include <vector>

#include "baton/ir/visit.h"
#include "baton/types/type_inference.h"

namespace baton {

namespace {

// Whether a typed function references another one with an outdated type; it is then inferred anew.
bool calls_stale(const FunctionNode& function, const IRModuleNode& module) {
  std::vector<const ExprNode*> todo{&function};
  PointerSet seen;
  while (!todo.empty()) {
    const ExprNode* node = todo.back();
    todo.pop_back();
    if (!seen.insert(node)) continue;
    if (const auto* call = as<CallNode>(node)) {
      if (const auto* global = as<GlobalVarNode>(call->callee())) {
        const Function callee = module.find(global->name());
        if (!callee || !callee->checked_type()) return true;
        const auto* type = as_type<FuncTypeNode>(callee->checked_type());
        if (!type) return true;
        // Calls of a polymorphic function have instantiated types.
        bool fits = !type->type_params().empty();
        if (!fits && type->params().size() == call->args().size()) {
          fits = same_type(type->result(), call->checked_type());
          for (size_t i = 0; i < call->args().size(); ++i)
            fits = fits && same_type(type->params()[i], call->args()[i]->checked_type());
        }
        if (!fits) return true;
      }
    }
    for (const Expr& each : Children(*node)) todo.push_back(each.get());
  }
  return false;
}

// Infers all functions, with or without `trust`; enters those that changed.
void infer_all(IRModuleNode& module, bool trust) {
  TypeInference inference(trust);
  inference.set_module(module);
  std::vector<std::pair<std::string, Function>> added;
  for (const auto& [name, function] : module.functions()) {
    if (trust && function->checked_type()) continue;
    inference.add_function(name, function);
    added.emplace_back(name, function);
  }
  inference.solve();
  for (const auto& [name, function] : added) {
    Function typed = as_ref<FunctionNode>(inference.typed(Expr(function)));
    if (typed != function) module.replace(name, std::move(typed));
  }
}

}  // namespace

Expr infer_type(const Expr& expr, const IRModuleNode* module) {
  if (expr->checked_type()) return expr;
  TypeInference inference(true);
  if (module) inference.set_module(*module);
  inference.add_expr(expr);
  inference.solve();
  return inference.typed(expr);
}

IRModule infer_types(IRModule module) {
  if (module->is_typed()) return module;
  bool all_typed = true;
  for (const auto& [name, function] : module->functions()) all_typed = all_typed && function->checked_type();
  if (!all_typed) infer_all(*module, true);
  // When a function was replaced, the types in its callers may be outdated.
  if (module->functions().size() > 1) {
    bool stale = false;
    for (const auto& [name, function] : module->functions()) stale = stale || calls_stale(*function, *module);
    if (stale) infer_all(*module, false);
  }
  module->set_typed();
  return module;
}

bool types_are_right(const IRModuleNode& module) {
  TypeInference inference(false);
  inference.set_module(module);
  for (const auto& [name, function] : module.functions()) inference.add_function(name, function);
  inference.solve();
  for (const auto& [name, function] : module.functions())
    if (inference.typed(Expr(function)) != Expr(function)) return false;
  return true;
}

Pass infer_type() {
  return module_pass({.opt_level = 0, .name = "InferType", .required = {}},
                     [](IRModule module, const PassContext&) { return infer_types(std::move(module)); });
}

}  // namespace baton
