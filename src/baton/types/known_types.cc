#include "baton/types/known_types.h"

#include <algorithm>

#include "baton/ir/op.h"
#include "baton/ir/visit.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

/// A relation context with complete input types and no reporting: when a relation does not assign the result
/// directly, full inference runs.
class KnownInputs final : public RelationContext {
 public:
  explicit KnownInputs(const CallNode& call) : call_(call) {}
  const std::string& op_name() const override { return call_.op()->name; }
  size_t num_inputs() const override { return call_.args().size(); }
  const Expr& arg(size_t index) const override { return call_.args().at(index); }
  Type input(size_t index) const override { return call_.args().at(index)->checked_type(); }
  Status assign(size_t index, const Type& type) override {
    return same_type(input(index), type) ? Status::kDone : Status::kFailed;
  }
  Status assign_result(const Type& type) override {
    if (result_ && !same_type(result_, type)) return Status::kFailed;
    result_ = type;
    return Status::kDone;
  }
  Status fail(const DiagnosticDef&, const std::vector<std::string>&, int) override { return Status::kFailed; }
  const Type& result() const { return result_; }

 private:
  const CallNode& call_;
  Type result_;
};

bool is_complete_tensor(const Type& type) { return type && type->kind() == TypeKind::kTensor; }

bool is_known(const Type& type) {
  if (is_complete_tensor(type)) return true;
  const auto* tuple = as_type<TupleTypeNode>(type);
  return tuple && std::ranges::all_of(tuple->fields(), is_known);
}

/// The result type of an operator call on tensors and tuples of them; null when full inference is needed.
Type result_of(const CallNode& call) {
  const OpDef* op = call.op();
  if (!op || !op->relation ||
      (op->num_inputs >= 0 && call.args().size() != static_cast<size_t>(op->num_inputs)))
    return {};
  if (!std::ranges::all_of(call.args(), [](const Expr& arg) { return is_known(arg->checked_type()); }))
    return {};
  KnownInputs inputs(call);
  const bool done = op->relation(inputs, call.attrs()) == kDone;
  return done && is_known(inputs.result()) ? inputs.result() : Type();
}

bool names_module(const Expr& expr) {
  if (expr->kind() == ExprKind::kFunction || expr->kind() == ExprKind::kMatch) return true;
  bool names = false;
  for_each_child(*expr, [&](const Expr& child) {
    names |= child->kind() == ExprKind::kGlobalVar || child->kind() == ExprKind::kConstructor;
  });
  return names;
}

}  // namespace

Expr typed_node(const Expr& expr, const IRModuleNode& module) {
  if (expr->checked_type() || expr->kind() == ExprKind::kGlobalVar) return expr;
  if (const auto* call = as<CallNode>(expr)) {
    if (const Type type = result_of(*call))
      return make_call(call->callee(), call->args(), call->attrs(), call->with_type(type));
  } else if (const auto* item = as<TupleGetItemNode>(expr)) {
    const auto* tuple = as_type<TupleTypeNode>(item->tuple()->checked_type());
    const auto index = static_cast<size_t>(item->index());
    if (tuple && index < tuple->fields().size())
      return make_tuple_get_item(item->tuple(), item->index(), item->with_type(tuple->fields()[index]));
  } else if (const auto* tuple = as<TupleNode>(expr)) {
    std::vector<Type> types;
    for (const Expr& field : tuple->fields()) types.push_back(field->checked_type());
    if (std::ranges::all_of(types, is_known))
      return make_tuple(tuple->fields(), tuple->with_type(tuple_type(std::move(types))));
  } else if (const auto* let = as<LetNode>(expr)) {
    const Type &var = let->var()->checked_type(), &value = let->value()->checked_type();
    if (var && value && let->body()->checked_type() && same_type(var, value))
      return make_let(let->var(), let->value(), let->body(), let->with_type(let->body()->checked_type()));
  }
  return infer_type(expr, names_module(expr) ? &module : nullptr);
}

}  // namespace baton
