// exp, tanh, erf, nn.softmax  ->  fast_exp, ...: polynomials, a few units in the last place away.
#include "baton/ir/build.h"
#include "baton/ir/rules/pass_traits.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"

namespace baton {

namespace {

class FastMath final : public Rewriter {
  bool enter(const Expr&) override {
    return true;
  }  // TVM goes into primitive functions too, also those with a Compiler
  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    const auto* call = as<CallNode>(rebuilt);
    if (!call || !call->op()) return rebuilt;
    if (const auto* fast = call->op()->rules.get<FastForm>())
      return call_expr(op_expr(*find_op(fast->op)), call->args(), call->attrs());
    return rebuilt;
  }
};

}  // namespace

Pass fast_math() {
  return function_pass({4, "FastMath", {"InferType"}},
                       [](const Function& function, const IRModule&, const PassContext&) {
                         return as_ref<FunctionNode>(FastMath().run(function));
                       });
}

}  // namespace baton
