#include "baton/types/match_types.h"

#include <algorithm>

#include "baton/ir/adt.h"
#include "baton/ir/op.h"

namespace baton {

void match_types(const Type& declared, const Type& given, const std::vector<TypeVar>& vars,
                 std::vector<TypeVar>& found, std::vector<Type>& types) {
  if (!declared || !given) return;
  if (const auto* var = as_type<TypeVarNode>(declared)) {
    const auto is_var = [&](const TypeVar& other) { return other.get() == var; };
    if (std::any_of(vars.begin(), vars.end(), is_var) && std::none_of(found.begin(), found.end(), is_var)) {
      found.emplace_back(var);
      types.push_back(given);
    }
    return;
  }
  if (declared->kind() != given->kind()) return;
  const auto all = [&](const std::vector<Type>& some, const std::vector<Type>& others) {
    for (size_t i = 0; i < some.size() && i < others.size(); ++i)
      match_types(some[i], others[i], vars, found, types);
  };
  if (const auto* tuple = as_type<TupleTypeNode>(declared))
    all(tuple->fields(), as_type<TupleTypeNode>(given)->fields());
  if (const auto* call = as_type<TypeCallNode>(declared))
    all(call->args(), as_type<TypeCallNode>(given)->args());
  if (const auto* ref = as_type<RefTypeNode>(declared))
    match_types(ref->value(), as_type<RefTypeNode>(given)->value(), vars, found, types);
  if (const auto* function = as_type<FuncTypeNode>(declared)) {
    const auto* other = as_type<FuncTypeNode>(given);
    all(function->params(), other->params());
    match_types(function->result(), other->result(), vars, found, types);
  }
}

std::vector<Type> type_arguments(const CallNode& call) {
  std::vector<Type> given;
  for (const Expr& arg : call.args()) {
    if (!arg->checked_type()) return {};
    given.push_back(arg->checked_type());
  }
  if (!call.checked_type()) return {};
  given.push_back(call.checked_type());
  if (as<OpNode>(call.callee())) return given;
  if (as<ConstructorNode>(call.callee())) {
    const auto* data = as_type<TypeCallNode>(call.checked_type());
    return data ? data->args() : std::vector<Type>();
  }
  const Type& callee = call.callee()->checked_type();
  const auto* function = callee ? as_type<FuncTypeNode>(callee) : nullptr;
  if (!function) return {};
  std::vector<TypeVar> found;
  std::vector<Type> types;
  const Type actual = func_type({given.begin(), given.end() - 1}, given.back());
  match_types(func_type(function->params(), function->result()), actual, function->type_params(), found,
              types);
  std::vector<Type> arguments(function->type_params().size(), incomplete_type());
  for (size_t i = 0; i < found.size(); ++i) {
    const auto at = std::find(function->type_params().begin(), function->type_params().end(), found[i]);
    arguments[static_cast<size_t>(at - function->type_params().begin())] = types[i];
  }
  return arguments;
}

}  // namespace baton
