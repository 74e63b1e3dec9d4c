#include "baton/transform/gradient/tensor_rewriter.h"

namespace baton {

Expr TensorRewriter::rewrite(const Expr& original, const Expr& rebuilt) {
  switch (original->kind()) {
    case ExprKind::kConstant:
      return rewrite_constant(original);
    case ExprKind::kGlobalVar:
      return rewrite_global(original);
    case ExprKind::kFunction:
      return rewrite_function(static_cast<const FunctionNode&>(*original), rebuilt);
    case ExprKind::kCall:
      return rewrite_call(static_cast<const CallNode&>(*original), rebuilt);
    case ExprKind::kIf: {
      const auto& branch = static_cast<const IfNode&>(*rebuilt);
      const Type& type = static_cast<const IfNode&>(*original).condition()->checked_type();
      return make_if(tensor_in(branch.condition(), type), branch.then(), branch.otherwise(),
                     original->with_type(type_of_rebuilt(*original)));
    }
    case ExprKind::kVar:
    case ExprKind::kOp:
    case ExprKind::kConstructor:
    case ExprKind::kTuple:
    case ExprKind::kTupleGetItem:
    case ExprKind::kLet:
    case ExprKind::kMatch:
    case ExprKind::kRefCreate:
    case ExprKind::kRefRead:
    case ExprKind::kRefWrite:
      return rebuilt;
  }
  return rebuilt;
}

}  // namespace baton
