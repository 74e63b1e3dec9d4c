// A pass: src/baton/transform/simplify/add_to_twice.cc and BATON_PASS("AddToTwice", add_to_twice).
//   x + x  ->  twice(x)
#include "baton/ir/build.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"

namespace baton {

namespace {

class AdderToTwice final : public Rewriter {
  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    const CallNode* add = call_of(rebuilt, "add");
    return add && add->args()[0] == add->args()[1] ? Expr(call_op("twice", {add->args()[0]})) : rebuilt;
  }
};

}  // namespace

Pass add_to_twice() {
  return function_pass({4, "AddToTwice", {"InferType"}},
                       [](const Function& function, const IRModule&, const PassContext&) {
                         return as_ref<FunctionNode>(AdderToTwice().run(function));
                       });
}

}  // namespace baton
