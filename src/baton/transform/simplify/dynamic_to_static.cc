// Dynamic operators become static ones where their operands are constants:
//   dyn.reshape(x, [3, 2])  ->  reshape(x, newshape=[3, 2])   (every operator with a StaticFormRule)
//   shape_of(x)             ->  a constant, once x has a static shape
//   op(constants)           ->  its value
// Each node is typed as soon as its arguments are: a shape that becomes known makes the next one known in the
// same walk.
#include "baton/ir/build.h"
#include "baton/ir/rules/algebra.h"
#include "baton/ir/rules/static_form_rule.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/transform/constant_value.h"
#include "baton/transform/fold_constant.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

using Form = StaticFormRule::Form;

constexpr const char* kOnlyShape = "only its shape was used";

/// The elements of a constant of integers, or nothing.
std::optional<std::vector<int64_t>> integers_of(const ConstantNode& constant) {
  const NDArray& value = constant.value();
  if (value.dtype() == DType::int_(64))
    return std::vector<int64_t>(value.as<int64_t>().begin(), value.as<int64_t>().end());
  if (value.dtype() == DType::int_(32))
    return std::vector<int64_t>(value.as<int32_t>().begin(), value.as<int32_t>().end());
  return std::nullopt;
}

/// Reads what `argument` is as an attribute; false when it is not known.
bool attribute(const Expr& argument, Form form, AttrValue& value) {
  const auto* constant = as<ConstantNode>(argument);
  if (!constant) return false;
  const bool floats = constant->value().dtype() == DType::float_(32);
  if (form == Form::kNumber) {
    const auto number = scalar_value(argument);
    if (number) value = *number;
    return number.has_value();
  }
  AttrList list;
  if (form == Form::kNumbers) {
    if (!floats) return false;
    for (const float number : constant->value().as<float>()) list.emplace_back(static_cast<double>(number));
    value = std::move(list);
    return true;
  }
  const auto integers = integers_of(*constant);
  if (!integers || (form == Form::kInteger && integers->size() != 1)) return false;
  if (form == Form::kInteger) {
    value = integers->front();
    return true;
  }
  if (form == Form::kIntegers) {
    value = *integers;
    return true;
  }
  for (size_t i = 0; i + 1 < integers->size(); i += 2)
    list.emplace_back(std::vector<int64_t>{(*integers)[i], (*integers)[i + 1]});
  value = std::move(list);
  return true;
}

class StaticMaker final : public Rewriter {
 public:
  explicit StaticMaker(const BuildContext& context) : context_(context) {}
  bool dropped() const { return dropped_; }

 private:
  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    const auto* call = as<CallNode>(rebuilt);
    if (call && call->op()) {
      const Expr made = static_form(*call);
      return computed(typed(made ? made : rebuilt));
    }
    const bool plain =
        call || rebuilt->kind() == ExprKind::kTuple || rebuilt->kind() == ExprKind::kTupleGetItem;
    return plain ? typed(rebuilt) : rebuilt;
  }

  // A variable takes part in what is known of its value.
  void let_value(const LetNode& let, const Expr& value) override {
    const Var& var = let.var();
    if (!value->checked_type() || !var->checked_type() ||
        same_type(value->checked_type(), var->checked_type()))
      return;
    map(var, make_var(var->name(), {}, NodeInfo(var->origins(), var->span(), value->checked_type())));
  }

  static Expr typed(const Expr& expr) {
    bool ready = !expr->checked_type();
    const auto known = [&](const Expr& child) {
      ready = ready && (child->checked_type() || child->kind() == ExprKind::kOp);
    };
    if (const auto* call = as<CallNode>(expr)) {
      known(call->callee());
      for (const Expr& arg : call->args()) known(arg);
    } else if (const auto* tuple = as<TupleNode>(expr)) {
      for (const Expr& field : tuple->fields()) known(field);
    } else if (const auto* item = as<TupleGetItemNode>(expr)) {
      known(item->tuple());
    }
    return ready ? infer_type(expr) : expr;
  }

  static Expr static_form(const CallNode& call) {
    const auto* rule = call.op()->rules.get<StaticFormRule>();
    if (!rule) return {};
    const OpDef* op = find_op(rule->op);
    if (!op) return {};
    OriginSet origins = call.origins();
    std::vector<bool> kept(call.args().size(), true);
    NamedAttrs attrs;
    for (const AttrField& field : op->attrs->fields)
      if (call.attrs() && call.attrs()->schema().find(field.name))
        attrs.emplace_back(field.name, call.attrs()->get(field.name));
    for (const StaticFormRule::Value& value : rule->values) {
      const Expr& argument = call.args().at(static_cast<size_t>(value.arg));
      AttrValue known;
      if (!attribute(argument, value.form, known)) return {};
      kept[static_cast<size_t>(value.arg)] = false;
      origins = origins.merge(argument->origins());
      std::erase_if(attrs, [&](const auto& each) { return each.first == value.attr; });
      attrs.emplace_back(value.attr, std::move(known));
    }
    std::vector<Expr> args;
    for (size_t i = 0; i < kept.size(); ++i)
      if (kept[i]) args.push_back(call.args()[i]);
    const OriginScope scope(origins);
    return call_op(rule->op, std::move(args), attrs);
  }

  Expr computed(const Expr& expr) {
    const auto* call = as<CallNode>(expr);
    if (!call || !call->op() || call->args().empty() || !expr->checked_type()) return expr;
    if (call->op()->rules.get<ValueOfType>())
      return static_type_of(call->args()[0]) ? shape_value(*call) : expr;
    for (const Expr& arg : call->args())
      if (!is_value(arg)) return expr;
    return fold_constants(expr, context_);
  }

  // Folds shape_of of a stand-in: what lies below the argument need not be walked through here.
  Expr shape_value(const CallNode& call) {
    const Type& type = call.args()[0]->checked_type();
    const Expr stand_in = make_var("x", type, NodeInfo(OriginSet::none(), {}, type));
    const Expr value =
        fold_constants(make_call(call.callee(), {stand_in}, call.attrs(), call.info()), context_);
    if (value->kind() != ExprKind::kConstant) return Expr(&call);
    dropped_ = true;
    return value;
  }

  const BuildContext& context_;
  bool dropped_ = false;
};

Function make_static(Function function, const IRModuleNode& module, const BuildContext& context) {
  while (true) {
    const Expr folded = fold_constants(function, context);
    const Function typed = as_ref<FunctionNode>(infer_type(folded, &module));
    StaticMaker maker(context);
    const Function made = as_ref<FunctionNode>(maker.run(typed));
    if (maker.dropped()) retire_all(typed, kOnlyShape);
    if (made == typed) return made;
    // The annotated result was the one with unknown extents.
    function = make_function(made->params(), made->body(), {}, made->attrs(),
                             NodeInfo(made->origins(), made->span()), made->type_params());
    function = as_ref<FunctionNode>(infer_type(function, &module));
  }
}

}  // namespace

Pass dynamic_to_static() {
  return function_pass(
      {2, "DynamicToStatic", {}},
      [](const Function& function, const IRModule& module, const BuildContext& context) {
        return make_static(function, *module, context);
      },
      /*may_retire=*/true);
}

}  // namespace baton
