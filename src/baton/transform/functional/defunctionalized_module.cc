#include "baton/transform/functional/defunctionalized_module.h"

#include <algorithm>

#include "baton/ir/functions.h"
#include "baton/ir/visit.h"
#include "baton/support/error.h"
#include "baton/text/printer.h"
#include "baton/transform/own_variables.h"

namespace baton::defunctionalized {

namespace {

NodeInfo bare() { return NodeInfo(OriginSet::none()); }

std::string key_of(const std::string& name, const std::vector<Type>& types) {
  std::string key = name;
  for (const Type& type : types) key += "|" + type_text(type);
  return key;
}

}  // namespace

bool has_function(const Type& type) {
  bool found = false;
  if (type) visit_types(type, [&](const Type& part) { found |= part->kind() == TypeKind::kFunc; });
  return found;
}

Type type_of(const FunctionNode& function) {
  std::vector<Type> params;
  for (const Var& param : function.params()) params.push_back(declared_type(*param));
  return func_type(std::move(params),
                   function.ret_type() ? function.ret_type() : function.body()->checked_type(),
                   function.type_params());
}

Type DefunctionalizedModule::encoded(const Type& type) {
  if (!has_function(type)) return type;
  return rewrite_type(type, [&](const Type& part) -> Type {
    if (part->kind() != TypeKind::kFunc) return {};
    return type_call(Type(of(part).header), {});
  });
}

Encoded& DefunctionalizedModule::of(const Type& function_type) {
  const auto& type = *as_type<FuncTypeNode>(function_type);
  if (!type.type_params().empty())
    throw NotSupported("Defunctionalization: a polymorphic function as a value: " + type_text(function_type));
  std::vector<Type> params;
  for (const Type& param : type.params()) params.push_back(encoded(param));
  const Type result = encoded(type.result()), plain = func_type(params, result);
  for (const auto& known : encoded_)
    if (same_type(known->type, plain)) return *known;
  std::string name;
  do name = "T" + std::to_string(next_type_++);
  while (module_->find_type(name) || module_->find("apply_" + name));
  auto made = std::make_unique<Encoded>();
  made->type = plain;
  made->header = module_->global_type_var(name);
  made->apply = module_->global_var("apply_" + name);
  made->self = make_var("f", type_call(Type(made->header), {}), bare());
  for (const Type& param : params) made->params.push_back(make_var("arg", param, bare()));
  encoded_.push_back(std::move(made));
  return *encoded_.back();
}

Expr DefunctionalizedModule::make(Encoded& encoded, const std::vector<Var>& captured,
                                  const std::vector<Var>& params, const Expr& body, const Var& self) {
  std::vector<Type> inputs;
  std::vector<Pattern> patterns;
  std::unordered_map<const ExprNode*, Expr> values;
  for (const Var& var : captured) {
    inputs.push_back(declared_type(*var));
    const Var field = make_var(var->name(), inputs.back(), bare());
    patterns.push_back(var_pattern(field));
    values.emplace(var.get(), Expr(field));
  }
  if (self) values.emplace(self.get(), Expr(encoded.self));
  for (size_t i = 0; i < params.size(); ++i) values.emplace(params[i].get(), Expr(encoded.params[i]));
  const auto constructor = make_ref<const ConstructorNode>(
      encoded.header->name() + "_" + std::to_string(encoded.constructors.size()), inputs, encoded.header, -1);
  encoded.constructors.push_back(constructor);
  // Functions may share a part that binds variables with others of the same clauses.
  encoded.clauses.push_back(
      {constructor_pattern(constructor, std::move(patterns)), with_own_variables(body, values)});
  return make_call(Expr(constructor), std::vector<Expr>(captured.begin(), captured.end()), {}, bare());
}

Expr DefunctionalizedModule::called(const GlobalVar& name, const Function& function,
                                    const std::vector<TypeVar>& vars, const std::vector<Type>& types) {
  const Type type = type_of(*function);
  if (is_closed(*function)) return Expr(typed(name, type));
  bool higher = type->kind() == TypeKind::kFunc && has_function(as_type<FuncTypeNode>(type)->result());
  for (const Var& param : function->params()) higher |= has_function(declared_type(*param));
  for (const Type& each : types) higher |= has_function(each);
  const auto [at, fresh] = converted_.try_emplace(higher ? key_of(name->name(), types) : name->name());
  if (!fresh) return Expr(at->second);
  Pending pending{name->name(), name->name(), {}, {}};
  if (higher) {
    for (int i = 0;
         module_->find(pending.to) ||
         std::any_of(pending_.begin(), pending_.end(), [&](const Pending& p) { return p.to == pending.to; });
         ++i)
      pending.to = name->name() + "_" + std::to_string(i);
    pending.vars = vars;
    pending.types = types;
  }
  // Instantiated types with functions are complete only when the module is: inference finds those.
  at->second = higher ? module_->global_var(pending.to) : typed(name, type);
  pending_.push_back(std::move(pending));
  return Expr(at->second);
}

GlobalVar DefunctionalizedModule::typed(const GlobalVar& name, const Type& type) {
  return make_ref<const GlobalVarNode>(name->name(), NodeInfo(OriginSet::none(), {}, type));
}

Expr DefunctionalizedModule::as_value(const GlobalVar& name, const Function& function, const Type& type,
                                      const std::vector<TypeVar>& vars, const std::vector<Type>& types) {
  Encoded& encoded = of(type);
  const auto [at, fresh] = values_.try_emplace(key_of(name->name(), types));
  if (fresh) {
    std::vector<Var> params;
    for (const Var& param : encoded.params)
      params.push_back(make_var(param->name(), param->annotation(), bare()));
    const NodeInfo info(function->is_primitive() ? function->origins() : OriginSet::none());
    make(encoded, {}, params,
         make_call(called(name, function, vars, types), std::vector<Expr>(params.begin(), params.end()), {},
                   info),
         {});
    at->second = encoded.constructors.back();
  }
  return make_call(Expr(at->second), {}, {}, bare());
}

void DefunctionalizedModule::finish() {
  while (!pending_.empty()) {
    const Pending next = std::move(pending_.back());
    pending_.pop_back();
    module_->set(next.to, convert(module_->find(next.from), next.vars, next.types, next.to != next.from));
  }
  for (const auto& encoded : encoded_) {
    if (encoded->constructors.empty())
      throw Error("Defunctionalization: no function of the type " + type_text(encoded->type) +
                  " is ever made");
    module_->set_type(define_type(encoded->header, {}, encoded->constructors));
    std::vector<Var> params{encoded->self};
    params.insert(params.end(), encoded->params.begin(), encoded->params.end());
    // Inference checks exhaustiveness of a complete match, which fails beyond a limit on the number of cases.
    const Expr body =
        make_match(Expr(encoded->self), encoded->clauses, encoded->clauses.size() <= 1000, bare());
    module_->set(
        encoded->apply->name(),
        make_function(std::move(params), body, as_type<FuncTypeNode>(encoded->type)->result(), {}, bare()));
  }
}

}  // namespace baton::defunctionalized
