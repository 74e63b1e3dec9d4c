#include "baton/ops/rules/gradient_build.h"

#include "baton/support/error.h"

namespace baton::gradients {

Expr op(std::string_view name, std::vector<Expr> args,
        const std::vector<std::pair<std::string, AttrValue>>& attrs) {
  const OpDef* def = find_op(name);
  BATON_CHECK(def, "a gradient needs " + std::string(name));
  return Expr(
      call_expr(op_expr(*def), std::move(args), def->attrs ? make_attrs(*def->attrs, attrs) : Attrs()));
}

Expr scalar_like(double value, const Expr& like) {
  const auto* type = tensor_type_of(like);
  BATON_CHECK(type, "gradients are made of typed calls");
  return Expr(scalar(value, type->dtype()));
}

void refuse(const CallNode& call, const std::string& why) {
  throw NotSupported("the gradient of " + call.op()->name + " " + why);
}

const TensorTypeNode& tensor_arg(const CallNode& call, size_t index) {
  const auto* type = tensor_type_of(call.args().at(index));
  if (!type) refuse(call, "needs tensors, got " + type_text(call.args()[index]->checked_type()));
  return *type;
}

std::vector<int64_t> static_arg(const CallNode& call, size_t index) {
  const TensorTypeNode& type = tensor_arg(call, index);
  if (!type.is_static())
    refuse(call, "needs known extents, got " + type_text(call.args()[index]->checked_type()));
  return type.extents();
}

GradientRule unary(std::function<Expr(const Expr& x, const Expr& y, const Expr& g)> of) {
  return {[of = std::move(of)](const Call& call, const Expr& adjoint) {
    return Adjoints{of(call->args()[0], Expr(call), adjoint)};
  }};
}

Adjoints with_zeros(const Call& call, Expr data) {
  Adjoints adjoints{std::move(data)};
  for (size_t i = 1; i < call->args().size(); ++i) adjoints.push_back(zeros_like(call->args()[i]));
  return adjoints;
}

}  // namespace baton::gradients

namespace baton {

GradientRule copy_gradient() {
  using namespace gradients;
  return unary([](const Expr&, const Expr&, const Expr& g) { return g; });
}

GradientRule no_gradient() {
  using gradients::Adjoints;
  return {[](const Call& call, const Expr&) {
    Adjoints zeros;
    for (const Expr& arg : call->args()) zeros.push_back(gradients::zeros_like(arg));
    return zeros;
  }};
}

GradientRule reshape_gradient() {
  using namespace gradients;
  return {[](const Call& call, const Expr& g) {
    return with_zeros(call, op("reshape_like", {g, call->args()[0]}));
  }};
}

}  // namespace baton
