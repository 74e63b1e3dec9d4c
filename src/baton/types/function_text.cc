#include "baton/types/function_text.h"

#include "baton/support/error.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

namespace baton {

Function function_of_text(const std::string& relay) {
  try {
    const Expr expr = parse_expr(relay);
    const auto* function = as<FunctionNode>(expr);
    if (!function) return {};
    // Without its attributes, so that inference enters it.
    const Function plain = make_function(function->params(), function->body(), function->ret_type(), {},
                                         NodeInfo(OriginSet::none()), function->type_params());
    return as_ref<FunctionNode>(infer_type(Expr(plain)));
  } catch (const Error&) {
    return {};
  }
}

}  // namespace baton
