#include "baton/ir/module.h"

#include "baton/ir/variables.h"
#include "baton/ir/visit.h"

namespace baton {

std::optional<OriginId> OriginTable::find(const Origin* origin) const {
  const uint32_t id = known_->ids.find(origin);
  if (id == PointerIndex::kNone) return std::nullopt;
  return OriginId(id);
}

OriginId OriginTable::add(const Ref<const Origin>& origin) {
  if (known_.use_count() > 1) {
    if (const auto id = find(origin.get())) return *id;
    known_ = std::make_shared<Known>(*known_);
  }
  const auto [id, fresh] = known_->ids.add(origin.get());
  if (fresh) known_->origins.push_back(origin);
  return OriginId(id);
}

void OriginTable::retire(OriginId id, Retired why) {
  if (retired_.use_count() > 1) retired_ = std::make_shared<std::map<uint32_t, Retired>>(*retired_);
  (*retired_)[index(id)] = std::move(why);
}

const Retired* OriginTable::retired(OriginId id) const {
  const auto at = retired_->find(index(id));
  return at == retired_->end() ? nullptr : &at->second;
}

Function IRModuleNode::find(const std::string& name) const {
  const auto at = functions_.find(name);
  return at == functions_.end() ? Function() : at->second;
}

void IRModuleNode::set(const std::string& name, Function function) {
  BATON_CHECK(function, "a module's function is null: " + name);
  post_order(Expr(function), [&](const Expr& node) {
    for (const Origin* origin : node->origins().origins()) origins_.add(Ref<const Origin>(origin));
  });
  global_var(name);
  is_typed_ = false;
  functions_[name] = std::move(function);
}

void IRModuleNode::replace(const std::string& name, Function function) {
  BATON_CHECK(function && functions_.count(name), "no function to replace: " + name);
  is_typed_ = false;
  functions_[name] = std::move(function);
}

void IRModuleNode::remove(const std::string& name) {
  is_typed_ = false;
  functions_.erase(name);
}

GlobalVar IRModuleNode::global_var(const std::string& name) {
  GlobalVar& var = global_vars_[name];
  if (!var) var = make_global_var(name);
  return var;
}

TypeData IRModuleNode::find_type(const std::string& name) const {
  const auto at = type_defs_.find(name);
  return at == type_defs_.end() ? TypeData() : at->second;
}

void IRModuleNode::set_type(TypeData type) {
  BATON_CHECK(type, "a module's type definition is null");
  const std::string& name = type->header()->name();
  is_typed_ = false;
  global_type_vars_.try_emplace(name, type->header());
  type_defs_[name] = std::move(type);
}

GlobalTypeVar IRModuleNode::global_type_var(const std::string& name) {
  GlobalTypeVar& var = global_type_vars_[name];
  if (!var) var = baton::global_type_var(name);
  return var;
}

IRModule IRModuleNode::copy() const {
  IRModule copy = make_module();
  copy->type_defs_ = type_defs_;
  copy->global_type_vars_ = global_type_vars_;
  copy->functions_ = functions_;
  copy->global_vars_ = global_vars_;
  copy->origins_ = origins_;
  copy->is_typed_ = is_typed_;
  return copy;
}

IRModule make_module() { return make_ref<IRModuleNode>(); }

IRModule module_from_expr(const Expr& body) {
  IRModule module = make_module();
  if (Function whole = as_ref<FunctionNode>(body))
    module->set("main", whole);
  else
    module->set("main", make_function(free_vars(body), body, {}, {}, NodeInfo(OriginSet::none())));
  return module;
}

}  // namespace baton
