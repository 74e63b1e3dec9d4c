// Inlines primitive functions into their caller, including those for external compilers:
//   fn(p0, p1, Primitive=1) { relu(conv(p0, p1)) }(x, w)  ->  relu(conv(x, w))
// The operators keep the origins they had inside.

#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"

namespace baton {

namespace {

class Defuser final : public Rewriter {
  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    const auto* call = as<CallNode>(rebuilt);
    const auto* function = call ? as<FunctionNode>(call->callee()) : nullptr;
    if (!function || !function->is_primitive()) return rebuilt;
    std::unordered_map<const ExprNode*, Expr> values;
    for (size_t i = 0; i < call->args().size(); ++i)
      values.emplace(function->params()[i].get(), call->args()[i]);
    return substitute(function->body(), values);
  }
};

}  // namespace

Pass defuse_ops() {
  return function_pass({3, "DefuseOps", {"InferType"}},
                       [](const Function& function, const IRModule&, const PassContext&) {
                         return as_ref<FunctionNode>(Defuser().run(Expr(function)));
                       });
}

}  // namespace baton
