#include "baton/ir/analysis/well_formed.h"

#include <algorithm>
#include <optional>

#include "baton/ir/analysis/kinds.h"
#include "baton/ir/variables.h"
#include "baton/ir/visit.h"
#include "baton/support/error.h"
#include "baton/support/pointer_map.h"

namespace baton {

namespace {

std::optional<std::string> constructor_fault(const ConstructorNode& constructor, const IRModuleNode& module) {
  const std::string what =
      "constructor " + constructor.name() + " of type " + constructor.belongs_to()->name();
  const TypeData type = module.find_type(constructor.belongs_to()->name());
  if (!type) return what + " is used, but the module does not define that type";
  for (const Constructor& each : type->constructors()) {
    if (each->name() != constructor.name()) continue;
    const size_t seen = constructor.inputs().size(), defined = each->inputs().size();
    if (seen == defined) return std::nullopt;
    return what + " has " + std::to_string(seen) + " fields, but " + std::to_string(defined) +
           " where the module defines it";
  }
  return what + " is not among those that the module defines";
}

void collect_pattern_faults(const PatternNode& pattern, const IRModuleNode* module,
                            std::vector<std::string>& faults) {
  if (pattern.kind() == PatternKind::kConstructor) {
    const ConstructorNode& constructor = *pattern.constructor();
    if (module)
      if (std::optional<std::string> text = constructor_fault(constructor, *module))
        faults.push_back(std::move(*text));
    if (constructor.inputs().size() != pattern.patterns().size())
      faults.push_back("pattern " + pattern_text(Pattern(&pattern)) + " has " +
                       std::to_string(pattern.patterns().size()) + " fields, but its constructor " +
                       std::to_string(constructor.inputs().size()));
  }
  for (const Pattern& each : pattern.patterns()) collect_pattern_faults(*each, module, faults);
}

class FormCheck {
 public:
  explicit FormCheck(const FormOptions& options) : options_(options) {}

  std::vector<FormFault> run(const Expr& root) {
    look_at(root);
    while (!todo_.empty()) {
      const Step step = todo_.back();
      todo_.pop_back();
      switch (step.what) {
        case Step::kLook:
          look(*step.node);
          break;
        case Step::kBind:
          for_each_var(step, [&](const Var& var) { bind(var); });
          break;
        case Step::kUnbind:
          for_each_var(step, [&](const Var& var) { scopes_[var.get()] = Scope::kClosed; });
          break;
      }
    }
    if (options_.closed) {
      for (const Expr& var : free_) fault(var, "variable %" + as<VarNode>(var)->name() + " is free");
      for (const TypeVar& var : free_type_vars(root))
        fault(root, "type variable " + var->name() + " is free");
    }
    return std::move(faults_);
  }

 private:
  enum class Scope : uint8_t { kFree, kOpen, kClosed };
  // Nodes are held by address: the root keeps them alive, and no reference counts change.
  struct Step {
    enum What : uint8_t { kLook, kBind, kUnbind } what;
    const ExprNode* node;
    size_t clause = 0;  // of kBind and kUnbind of a match
  };

  void fault(const Expr& at, std::string text) { faults_.push_back({at, std::move(text)}); }
  void look_at(const Expr& expr) { todo_.push_back({Step::kLook, expr.get()}); }

  template <class Visit>
  void for_each_var(const Step& step, Visit&& visit) {
    if (const auto* function = as<FunctionNode>(step.node))
      for (const Var& param : function->params()) visit(param);
    if (const auto* let = as<LetNode>(step.node)) visit(let->var());
    if (const auto* match = as<MatchNode>(step.node))
      for (const Var& var : pattern_vars(match->clauses()[step.clause].pattern)) visit(var);
  }

  void bind(const Var& var) {
    const auto [scope, fresh] = scopes_.insert(var.get(), Scope::kOpen);
    if (fresh) return;
    fault(Expr(var), "variable %" + var->name() +
                         (*scope == Scope::kFree ? " is used before it is bound" : " is bound twice"));
    *scope = Scope::kOpen;
  }

  void use(const VarNode& var) {
    const auto [scope, fresh] = scopes_.insert(&var, Scope::kFree);
    if (fresh) free_.emplace_back(&var);
    if (*scope == Scope::kClosed)
      fault(Expr(&var), "variable %" + var.name() + " is used outside the scope that binds it");
  }

  // Expands a node. LIFO order: its bound variables are in scope during the steps between bind and unbind.
  void look(const ExprNode& node) {
    if (const auto* var = as<VarNode>(&node)) return use(*var);
    if (!seen_.insert(&node)) return;
    if (const auto* global = as<GlobalVarNode>(&node)) return look_up(*global);
    if (const auto* constructor = as<ConstructorNode>(&node)) return look_up(*constructor, Expr(&node));
    if (const auto* function = as<FunctionNode>(&node)) {
      todo_.push_back({Step::kUnbind, &node});
      look_at(function->body());
      todo_.push_back({Step::kBind, &node});
    } else if (const auto* let = as<LetNode>(&node)) {  // the value may refer to the variable (recursion)
      todo_.push_back({Step::kUnbind, &node});
      look_at(let->body());
      look_at(let->value());
      todo_.push_back({Step::kBind, &node});
    } else if (const auto* match = as<MatchNode>(&node)) {
      for (size_t i = match->clauses().size(); i-- > 0;) {
        check_pattern(*match->clauses()[i].pattern, Expr(&node));
        todo_.push_back({Step::kUnbind, &node, i});
        look_at(match->clauses()[i].body);
        todo_.push_back({Step::kBind, &node, i});
      }
      look_at(match->data());
    } else {
      const size_t first = todo_.size();
      for_each_child(node, [&](const Expr& child) { look_at(child); });
      std::reverse(todo_.begin() + static_cast<std::ptrdiff_t>(first), todo_.end());
    }
  }

  void look_up(const GlobalVarNode& global) {
    if (options_.module && !options_.module->find(global.name()))
      fault(Expr(&global), "there is no function @" + global.name() + " in the module");
  }

  void look_up(const ConstructorNode& constructor, const Expr& at) {
    if (!options_.module) return;
    if (std::optional<std::string> text = constructor_fault(constructor, *options_.module))
      fault(at, std::move(*text));
  }

  void check_pattern(const PatternNode& pattern, const Expr& match) {
    for (std::string& text : pattern_faults(pattern, options_.module)) fault(match, std::move(text));
  }

  FormOptions options_;
  std::vector<FormFault> faults_;
  std::vector<Step> todo_;
  PointerSet seen_;           // non-variable nodes
  PointerMap<Scope> scopes_;  // variables visited so far
  std::vector<Expr> free_;
};

// The fault of a definition, if any.
std::optional<std::string> fault_of(const TypeDataNode& type, const IRModuleNode& module) {
  try {
    kind_of(type, module);
  } catch (const Error& error) {
    return error.what();
  }
  std::optional<std::string> found;
  for (const Constructor& each : type.constructors()) {
    visit_types(type.constructor_type(*each), [&](const Type& part) {
      const auto* var = as_type<TypeVarNode>(part);
      if (!var || found) return;
      for (const TypeVar& own : type.type_vars())
        if (own.get() == var) return;
      found = "type variable " + var->name() + " in constructor " + each->name() +
              " is not declared by type " + type.header()->name();
    });
  }
  return found;
}

}  // namespace

std::vector<std::string> pattern_faults(const PatternNode& pattern, const IRModuleNode* module) {
  std::vector<std::string> faults;
  collect_pattern_faults(pattern, module, faults);
  return faults;
}

std::vector<FormFault> form_faults(const Expr& root, const FormOptions& options) {
  return FormCheck(options).run(root);
}

std::vector<FormFault> form_faults(const IRModuleNode& module) {
  std::vector<FormFault> all;
  for (const auto& [name, type] : module.type_defs())
    if (std::optional<std::string> text = fault_of(*type, module)) all.push_back({Expr(), std::move(*text)});
  for (const auto& [name, function] : module.functions())
    for (FormFault& each : form_faults(Expr(function), {.closed = true, .module = &module}))
      all.push_back({std::move(each.at), "@" + name + ": " + each.text});
  return all;
}

bool well_formed(const Expr& root) { return form_faults(root).empty(); }
bool well_formed(const IRModuleNode& module) { return form_faults(module).empty(); }

}  // namespace baton
