// bias_add(x, b, axis)  ->  x + expand_dims(b), or x + b along the last axis: one operator less to know
// about.
#include "baton/ir/build.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"

namespace baton {

namespace {

class Canonicalizer final : public Rewriter {
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const CallNode* bias_add = call_of(rebuilt, "nn.bias_add");
    const TensorTypeNode* type = bias_add ? tensor_type_of(original) : nullptr;
    if (!type) return rebuilt;
    const int axis = front_axis(int_attr(*bias_add, "axis"), type->rank());
    return call_op("add", {bias_add->args()[0], expand_to_axis(bias_add->args()[1], type->rank(), axis)});
  }
};

}  // namespace

Pass canonicalize_ops() {
  return function_pass({3, "CanonicalizeOps", {"InferType"}},
                       [](const Function& function, const IRModule&, const PassContext&) {
                         return as_ref<FunctionNode>(Canonicalizer().run(function));
                       });
}

}  // namespace baton
