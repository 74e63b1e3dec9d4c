// Constants of one element as scalars, where a broadcast gives the same result: kernels take scalars in, and
// know their values.
//   power(x, c)  ->  power(x, 2f), where c is a tensor (1) with the element 2
#include "baton/transform/layout/scalar_constants.h"

#include "baton/ir/build.h"
#include "baton/ir/inspect.h"
#include "baton/ir/rules/position_free_rule.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

bool is_vector_of_one(const Expr& expr) {
  const auto* constant = as<ConstantNode>(expr);
  return constant && !constant->is_scalar() && constant->value().size() == 1;
}

class Scalars final : public Rewriter {
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    const auto* call = as<CallNode>(rebuilt);
    if (!call || !call->op() || call->args().size() < 2 || !is_position_free(*call)) return rebuilt;
    std::vector<Expr> args = call->args();
    for (size_t i = 0; i < args.size(); ++i)
      if (is_vector_of_one(args[i]) && another_has_the_rank(*as<CallNode>(original), i))
        args[i] = scalar_of(args[i], *call);
    if (args == call->args()) return rebuilt;
    return make_call(call->callee(), std::move(args), call->attrs(),
                     call->with_type(original->checked_type()));
  }

  /// Whether the result has its axes without the operand.
  static bool another_has_the_rank(const CallNode& call, size_t operand) {
    const auto* result = as_type<TensorTypeNode>(call.checked_type());
    for (size_t i = 0; result && i < call.args().size(); ++i) {
      const TensorTypeNode* type = i == operand ? nullptr : tensor_type_of(call.args()[i]);
      if (type && !is_vector_of_one(call.args()[i]) && type->rank() == result->rank()) return true;
    }
    return false;
  }

  /// A constant of the program stands for no operator; what is made of it stands for its reader.
  static Expr scalar_of(const Expr& vector, const CallNode& reader) {
    const OriginScope scope(vector->origins().empty() ? reader.origins() : vector->origins());
    return infer_type(Expr(constant(as<ConstantNode>(vector)->value().reshaped({}))));
  }

  Type type_of_rebuilt(const ExprNode& node) const override { return node.checked_type(); }
};

}  // namespace

Function with_scalar_constants(const Function& function) {
  return as_ref<FunctionNode>(Scalars().run(function));
}

Pass scalar_constants() {
  return function_pass({1, "ScalarConstants", {"InferType"}},
                       [](const Function& function, const IRModule&, const PassContext&) {
                         return with_scalar_constants(function);
                       });
}

}  // namespace baton
