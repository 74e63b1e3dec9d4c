#include "baton/codegen/dnnl/gelu.h"

#include <cmath>

#include "baton/ir/inspect.h"

namespace baton {
namespace {

/// `value` is a scalar constant of about `number`.
bool is_about(const Expr& value, double number) {
  const auto* constant = as<ConstantNode>(value);
  if (!constant || constant->value().size() != 1 || constant->value().dtype() != DType::float_(32))
    return false;
  return std::abs(constant->value().as<float>()[0] - number) < 1e-4 * number;
}

/// x when `value` is 1 + erf(x / sqrt(2)), else null.
Expr operand_of_erf(const Expr& value) {
  const CallNode* add = call_of(value, "add");
  if (!add || !(is_about(add->args()[0], 1) || is_about(add->args()[1], 1))) return {};
  const CallNode* erf = call_of(add->args()[is_about(add->args()[0], 1) ? 1 : 0], "erf");
  if (!erf) return {};
  if (const CallNode* divide = call_of(erf->args()[0], "divide"))
    return is_about(divide->args()[1], std::sqrt(2.0)) ? divide->args()[0] : Expr();
  const CallNode* multiply = call_of(erf->args()[0], "multiply");
  if (!multiply) return {};
  for (const int side : {0, 1})
    if (is_about(multiply->args()[side], std::sqrt(0.5))) return multiply->args()[1 - side];
  return {};
}

/// Whether `root` is x / 2 (1 + erf(x / sqrt(2))), whatever the order of its multiplications.
bool is_gelu(const Expr& root) {
  const TensorTypeNode* type = static_type_of(root);
  const CallNode* outer = call_of(root, "multiply");
  if (!type || !outer || type->dtype() != DType::float_(32)) return false;
  for (const int side : {0, 1}) {
    const CallNode* inner = call_of(outer->args()[side], "multiply");
    if (!inner) continue;
    const Expr factors[] = {outer->args()[1 - side], inner->args()[0], inner->args()[1]};
    for (const int half : {0, 1, 2})
      for (const int erf : {0, 1, 2})
        if (half != erf && is_about(factors[half], 0.5) && operand_of_erf(factors[erf]) &&
            operand_of_erf(factors[erf]) == factors[3 - half - erf])
          return true;
  }
  return false;
}

DFPattern gelu(const DFPattern& value) {
  const auto call = [](const char* op, const DFPattern& a, const DFPattern& b) {
    return is_op(op)->call({a, b});
  };
  const DFPattern scaled = call("divide", value, is_constant()) | call("multiply", value, is_constant());
  const DFPattern one_plus = call("add", is_op("erf")->call({scaled}), is_constant());
  return call("multiply", call("multiply", value, one_plus), is_constant()) |
         call("multiply", call("multiply", value, is_constant()), one_plus) |
         call("multiply", value, call("multiply", one_plus, is_constant()));
}

}  // namespace

CompositePattern dnnl_gelu(const DFPattern& value) { return {"dnnl.gelu", gelu(value), is_gelu}; }

}  // namespace baton
