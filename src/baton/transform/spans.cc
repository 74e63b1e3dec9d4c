#include "baton/transform/spans.h"

#include "baton/ir/adt.h"

namespace baton {

Var SpanWriter::rewrite_var(const Var& var) {
  const Span* span = spans_.find(var.get());
  return span ? make_var(var->name(), var->annotation(), NodeInfo(var->origins(), *span, var->checked_type()))
              : var;
}

Expr SpanWriter::rewrite(const Expr& original, const Expr& rebuilt) {
  // A global variable is one object per module and has no span of its own.
  const Span* span = original->kind() == ExprKind::kGlobalVar ? nullptr : spans_.find(original.get());
  if (!span && rebuilt == original) return original;
  const NodeInfo info(original->origins(), span ? *span : original->span(), original->checked_type());
  switch (rebuilt->kind()) {
    case ExprKind::kConstant:
      return make_constant(as<ConstantNode>(rebuilt)->value(), info);
    case ExprKind::kTuple:
      return make_tuple(as<TupleNode>(rebuilt)->fields(), info);
    case ExprKind::kTupleGetItem: {
      const auto& item = *as<TupleGetItemNode>(rebuilt);
      return make_tuple_get_item(item.tuple(), item.index(), info);
    }
    case ExprKind::kCall: {
      const auto& call = *as<CallNode>(rebuilt);
      return make_call(call.callee(), call.args(), call.attrs(), info);
    }
    case ExprKind::kFunction: {
      const auto& function = *as<FunctionNode>(rebuilt);
      return make_function(function.params(), function.body(), function.ret_type(), function.attrs(), info,
                           function.type_params());
    }
    case ExprKind::kLet: {
      const auto& let = *as<LetNode>(rebuilt);
      return make_let(let.var(), let.value(), let.body(), info);
    }
    case ExprKind::kIf: {
      const auto& branch = *as<IfNode>(rebuilt);
      return make_if(branch.condition(), branch.then(), branch.otherwise(), info);
    }
    case ExprKind::kMatch: {
      const auto& match = *as<MatchNode>(rebuilt);
      return make_match(match.data(), match.clauses(), match.complete(), info);
    }
    case ExprKind::kRefCreate:
      return make_ref_create(as<RefCreateNode>(rebuilt)->value(), info);
    case ExprKind::kRefRead:
      return make_ref_read(as<RefReadNode>(rebuilt)->ref(), info);
    case ExprKind::kRefWrite: {
      const auto& write = *as<RefWriteNode>(rebuilt);
      return make_ref_write(write.ref(), write.value(), info);
    }
    case ExprKind::kVar:
    case ExprKind::kGlobalVar:
    case ExprKind::kOp:
    case ExprKind::kConstructor:
      break;
  }
  return rebuilt;
}

}  // namespace baton
