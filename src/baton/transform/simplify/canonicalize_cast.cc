// A widening cast that several elementwise or broadcast operators read is made once for each: there it costs
// nothing in their kernels, while a shared result would be stored in the wide type. The first of them, and
// all other readers, keep the one there is.
//   y = cast(x); f(y), g(y)  ->  f(cast(x)), g(cast(x))
#include "baton/ir/build.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/support/pointer_map.h"

namespace baton {

namespace {

class CastCanonicalizer final : public Rewriter {
 private:
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const auto* call = as<CallNode>(rebuilt);
    if (!call || !call->op() || call->op()->fuse > Fuse::kBroadcast) return rebuilt;
    std::vector<Expr> args = call->args();
    bool changed = false;
    for (size_t i = 0; i < args.size(); ++i) {
      const CallNode* cast = widening_cast(as<CallNode>(original)->args()[i]);
      const CallNode* now = cast ? call_of(args[i], "cast") : nullptr;
      if (!now || ++readers_[as<CallNode>(original)->args()[i].get()] < 2) continue;
      args[i] = make_call(now->callee(), now->args(), now->attrs(), now->info());
      changed = true;
    }
    return changed ? Expr(make_call(call->callee(), std::move(args), call->attrs(), call->info())) : rebuilt;
  }

  static const CallNode* widening_cast(const Expr& expr) {
    const CallNode* cast = call_of(expr, "cast");
    const TensorTypeNode* from = cast ? tensor_type_of(cast->args()[0]) : nullptr;
    const TensorTypeNode* to = from ? tensor_type_of(expr) : nullptr;
    return to && to->dtype().bits > from->dtype().bits ? cast : nullptr;
  }

  PointerMap<int> readers_;  // of a cast, as far as they cost it nothing
};

}  // namespace

Pass canonicalize_cast() {
  return function_pass({3, "CanonicalizeCast", {"InferType"}},
                       [](const Function& function, const IRModule&, const PassContext&) {
                         return as_ref<FunctionNode>(CastCanonicalizer().run(function));
                       });
}

}  // namespace baton
