#include "baton/byoc/typed_expr.h"

#include "baton/ir/variables.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"

namespace baton {

Expr typed_expr(const Expr& expr, const IRModuleNode* module) {
  if (expr->checked_type()) return expr;
  const std::string name = "typed_expr";  // any name not used in the module
  std::string free_name = name;
  while (module && module->find(free_name)) free_name += "_";
  const IRModule whole = module ? module->copy() : make_module();
  const Function function = as_ref<FunctionNode>(expr);
  whole->set(free_name,
             function ? function : make_function(free_vars(expr), expr, {}, {}, NodeInfo(OriginSet::none())));
  const Function typed = (*make_pass("InferType"))(whole, {})->find(free_name);
  return function ? Expr(typed) : typed->body();
}

}  // namespace baton
