#include "baton/transform/bind.h"

#include "baton/ir/variables.h"
#include "baton/ir/visit.h"
#include "baton/pass/rewriter.h"
#include "baton/support/pointer_map.h"

namespace baton {

Expr bind_vars(const Expr& expr, const std::unordered_map<const ExprNode*, Expr>& values) {
  const auto* function = as<FunctionNode>(expr);
  if (!function) return substitute(expr, values);
  const Expr body = substitute(function->body(), values);
  std::vector<Var> params;
  for (const Var& param : function->params())
    if (!values.count(param.get())) params.push_back(param);
  if (body == function->body() && params.size() == function->params().size()) return expr;
  PointerSet known;
  for (const Var& var : params) known.insert(var.get());
  for (const Var& var : free_vars(expr)) known.insert(var.get());
  for (const Var& var : free_vars(body))
    if (!known.contains(var.get())) params.push_back(var);
  return Expr(remake_function(*function, std::move(params), body));
}

}  // namespace baton
