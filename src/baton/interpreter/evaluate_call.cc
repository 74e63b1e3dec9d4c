#include "baton/interpreter/evaluate_call.h"

#include "baton/codegen/evaluate/evaluator.h"
#include "baton/ir/op.h"
#include "baton/ir/rules/shape_rule.h"
#include "baton/transform/constant_value.h"
#include "baton/types/infer_type.h"

namespace baton::program {

namespace {

Expr constant_of(const Value& value, const CallNode& call) {
  if (const auto* tensor = as_value<TensorValue>(value))
    return make_constant(tensor->array(), NodeInfo(OriginSet::none()));
  const auto* tuple = as_value<TupleValue>(value);
  if (!tuple) throw Error("operator " + call.op()->name + " takes tensors, and is given " + describe(value));
  std::vector<Expr> fields;
  std::vector<Type> types;
  for (const Value& field : tuple->fields()) {
    fields.push_back(constant_of(field, call));
    types.push_back(fields.back()->checked_type());
  }
  return make_tuple(std::move(fields), NodeInfo(OriginSet::none(), {}, tuple_type(std::move(types))));
}

/// Whether the call's inferred types match the values.
bool is_typed_for(const CallNode& call, const std::vector<Expr>& values) {
  if (!call.checked_type()) return false;
  for (size_t i = 0; i < values.size(); ++i)
    if (!same_type(call.args()[i]->checked_type(), values[i]->checked_type())) return false;
  return true;
}

/// The call with the values as arguments, typed.
Call closed(const CallNode& call, const std::vector<Value>& args) {
  std::vector<Expr> values;
  for (const Value& arg : args) values.push_back(constant_of(arg, call));
  const bool typed = is_typed_for(call, values);
  const OriginScope scope(call.origins());
  const Call made =
      call.attrs() || !call.op()->attrs
          ? make_call(call.callee(), std::move(values), call.attrs(), NodeInfo(call.origins(), call.span()))
          : baton::call(call.op()->name, std::move(values), {}, call.span());  // default attributes
  if (!typed) return as_ref<CallNode>(infer_type(Expr(made)));
  return make_call(made->callee(), made->args(), made->attrs(), made->with_type(call.checked_type()));
}

Value value_of(const Expr& expr) {
  if (const auto* constant = as<ConstantNode>(expr)) return tensor_value(constant->value());
  std::vector<Value> fields;
  for (const Expr& field : as<TupleNode>(expr)->fields()) fields.push_back(value_of(field));
  return tuple_value(std::move(fields));
}

/// The passes' context without the user's instruments.
PassContextRef quiet_passes(const BuildContext& around) {
  const auto passes = std::make_shared<PassContext>();
  passes->config = around.passes->config;
  passes->evaluator = around.passes->evaluator;
  return passes;
}

/// Evaluates the lowered form of an expression without variables; e.g. qnn.dense has no compute of its own.
Value lowered(const Expr& expr, const CallNode& call, const Lowering& lowering, const BuildContext& around) {
  BuildContext context = around.with_passes(quiet_passes(around));
  context.targets.clear();  // runs on the host, whatever the targets of builds
  const IRModule module = make_module();
  module->set("main", make_function({}, expr, expr->checked_type(), {}, NodeInfo(OriginSet::none(), {})));
  const Expr body = lowering(infer_types(module), context)->find("main")->body();
  if (!is_value(body))
    throw NotSupported("operator " + call.op()->name + " cannot be run: it has no compute");
  return value_of(body);
}

/// The result of a call that stands for others on these values: most are folded while it is replaced.
Value replaced(const Call& call, const RunTimeRule& rule, const Lowering& lowering,
               const BuildContext& around) {
  const Expr body = rule.expand(*call, around.with_passes(quiet_passes(around)));
  return is_value(body) ? value_of(body) : lowered(body, *call, lowering, around);
}

}  // namespace

Value evaluate_call(const CallNode& call, const std::vector<Value>& args, const Lowering& lowering,
                    const BuildContext& context) {
  const Call made = closed(call, args);
  if (const auto* rule = made->op()->rules.get<RunTimeRule>())
    return replaced(made, *rule, lowering, context);
  if (!made->op()->compute) return lowered(Expr(made), *made, lowering, context);
  static const std::shared_ptr<Evaluator> repeated = make_evaluator(EvaluateBy::kRepeated);
  const std::shared_ptr<Evaluator>& given = context.passes->evaluator;
  std::vector<NDArray> outputs = (given ? *given : *repeated).evaluate(*made, context);
  if (!as_type<TupleTypeNode>(made->checked_type())) return tensor_value(std::move(outputs.at(0)));
  std::vector<Value> fields;
  for (NDArray& output : outputs) fields.push_back(tensor_value(std::move(output)));
  return tuple_value(std::move(fields));
}

}  // namespace baton::program
