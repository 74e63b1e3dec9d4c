#include "baton/transform/functional/to_a_normal_form_expr.h"

#include "baton/ir/analysis/normal_form.h"

namespace baton {

Expr to_a_normal_form_expr(const Expr& expr) {
  const Function given = as_ref<FunctionNode>(expr);
  const IRModule alone = make_module();
  alone->set("main", given ? given : make_function({}, expr, {}, {}, NodeInfo(OriginSet::none())));
  const Function result = to_normal_form(alone, NormalForm::kAll)->find("main");
  return given ? Expr(result) : result->body();
}

}  // namespace baton
