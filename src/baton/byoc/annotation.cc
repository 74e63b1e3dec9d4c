#include "baton/byoc/annotation.h"

#include "baton/ir/inspect.h"
#include "baton/ir/op.h"

namespace baton {

namespace {

const OpDef& begin_op() {
  static const OpDef& op = *find_op("annotation.compiler_begin");
  return op;
}
const OpDef& end_op() {
  static const OpDef& op = *find_op("annotation.compiler_end");
  return op;
}

const CallNode* call_of(const Expr& expr, const OpDef& op) {
  const auto* call = as<CallNode>(expr);
  return call && call->op() == &op && call->args().size() == 1 ? call : nullptr;
}

Expr marked(const OpDef& op, const Expr& value, const Attrs& attrs, const OriginSet& origins) {
  // A copy of the attributes: text with metadata numbers them by object, as in TVM.
  return make_call(op_expr(op), {value}, attrs->copy(), NodeInfo(origins, {}, value->checked_type()));
}

}  // namespace

const CallNode* as_compiler_begin(const Expr& expr) { return call_of(expr, begin_op()); }
const CallNode* as_compiler_end(const Expr& expr) { return call_of(expr, end_op()); }

std::string compiler_of(const CallNode& mark) { return text_attr(mark, "compiler"); }

CompilerMarks::CompilerMarks(std::string compiler)
    : compiler_(std::move(compiler)),
      reason_("marks a region for " + compiler_),
      attrs_(make_attrs(*begin_op().attrs, {{"compiler", compiler_}})) {}

Expr CompilerMarks::begin(const Expr& value, const OriginSet& origins) const {
  return marked(begin_op(), value, attrs_, origins);
}
Expr CompilerMarks::end(const Expr& value, const OriginSet& origins) const {
  return marked(end_op(), value, attrs_, origins);
}

}  // namespace baton
