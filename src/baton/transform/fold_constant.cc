// op(constants)                  ->  its value, computed by the operator's own definition
// shape_of(x), ndarray_size(x)   ->  a constant, when the shape of x is known
// let v = constant; body         ->  body with v replaced
// if (constant) {a} else {b}     ->  the branch taken
// (a, b).0                       ->  a
// With fold_qnn, quantised operators too, as what they are in integers.
// Left alone: operators without inputs (a full tensor is smaller as an operator than as data), stateful ones,
// annotations, and what has no compute.
#include "baton/transform/fold_constant.h"

#include <cstring>

#include "baton/ir/legalize_rule.h"
#include "baton/pass/rewriter.h"
#include "baton/transform/build.h"
#include "baton/transform/infer_type.h"

namespace baton {

namespace {

/// Whether `expr` is a constant, or a tuple of such.
bool is_value(const Expr& expr) {
  if (expr->kind() == ExprKind::kConstant) return true;
  const auto* tuple = as<TupleNode>(expr);
  if (!tuple || tuple->fields().empty()) return false;
  for (const Expr& field : tuple->fields())
    if (!is_value(field)) return false;
  return true;
}

OriginSet origins_of_value(const Expr& value) {
  OriginSet origins = value->origins();
  if (const auto* tuple = as<TupleNode>(value))
    for (const Expr& field : tuple->fields()) origins = origins.merge(origins_of_value(field));
  return origins;
}

NDArray integers(Shape shape, const std::vector<int64_t>& values, DType dtype) {
  NDArray array = NDArray::empty(std::move(shape), dtype);
  for (size_t i = 0; i < values.size(); ++i) {
    if (dtype.bits == 64)
      array.as<int64_t>()[i] = values[i];
    else
      array.as<int32_t>()[i] = static_cast<int32_t>(values[i]);
  }
  return array;
}

class ConstantFolder final : public Rewriter {
 public:
  ConstantFolder(Evaluator& evaluator, bool fold_qnn) : evaluator_(evaluator), fold_qnn_(fold_qnn) {}

 private:
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    if (const auto* call = as<CallNode>(rebuilt)) return fold_call(original, *call, rebuilt);
    if (const auto* item = as<TupleGetItemNode>(rebuilt)) return fold_item(*item, rebuilt);
    if (const auto* branch = as<IfNode>(rebuilt)) return fold_if(*branch, rebuilt);
    if (const auto* let = as<LetNode>(rebuilt)) return drop_let(*let, rebuilt);
    return rebuilt;
  }

  void let_value(const LetNode& let, const Expr& value) override {
    if (is_value(value)) map(let.var(), value);
  }

  Expr drop_let(const LetNode& let, const Expr& rebuilt) {
    if (!is_value(let.value())) return rebuilt;
    retire(origins_of_value(let.value()), "the value is never used");  // what uses it carries the origins on
    return let.body();
  }

  Expr fold_if(const IfNode& branch, const Expr& rebuilt) {
    const std::optional<double> condition = scalar_value(branch.condition());
    if (!condition) return rebuilt;
    retire(branch.condition()->origins(), "the condition is known at compile time");
    retire_all(*condition != 0 ? branch.otherwise() : branch.then(),
               "the branch is never taken: its condition is known");
    return *condition != 0 ? branch.then() : branch.otherwise();
  }

  Expr fold_item(const TupleGetItemNode& item, const Expr& rebuilt) {
    const auto* tuple = as<TupleNode>(item.tuple());
    if (!tuple) return rebuilt;
    for (size_t i = 0; i < tuple->fields().size(); ++i)
      if (static_cast<int>(i) != item.index()) retire_all(tuple->fields()[i], "the result is never used");
    return tuple->fields().at(item.index());
  }

  Expr fold_call(const Expr& original, const CallNode& call, const Expr& rebuilt) {
    const OpDef* op = call.op();
    if (!op || op->stateful || call.args().empty() || !original->checked_type()) return rebuilt;
    if (op->non_computational && !(fold_qnn_ && op->name.starts_with("qnn."))) return rebuilt;
    if (op->name == "shape_of" || op->name == "ndarray_size")
      return fold_shape(*as<CallNode>(original), call, rebuilt);
    OriginSet origins = call.origins();
    for (const Expr& arg : call.args()) {
      if (!is_value(arg)) return rebuilt;
      origins = origins.merge(origins_of_value(arg));
    }
    if (op->non_computational) return fold_quantized(*as<CallNode>(original), call, rebuilt, origins);
    std::vector<NDArray> values;
    try {
      values = evaluator_.evaluate(*with_args_typed(call, original->checked_type()));
    } catch (const NotSupported&) {
      return rebuilt;  // it will be computed at run time
    }
    return constants(std::move(values), original, origins);
  }

  // A quantised operator is computed as what it is in integers.
  Expr fold_quantized(const CallNode& original, const CallNode& call, const Expr& rebuilt, const OriginSet& origins) {
    const auto* rule = call.op()->rules.get<LegalizeRule>();
    if (!rule || !rule->qnn_canonicalize) return rebuilt;
    std::vector<Type> types;
    for (const Expr& arg : original.args()) types.push_back(arg->checked_type());
    const OriginScope scope(origins);
    const Expr integers = rule->qnn_canonicalize(call, types, original.checked_type(), {});
    if (!integers) return rebuilt;
    const Expr value = ConstantFolder(evaluator_, false).run(infer_type(integers));
    return value->kind() == ExprKind::kConstant ? with_origins(value, origins) : rebuilt;
  }

  // Tuples over rewritten fields have lost their type, and a call over such an argument would lose its own.
  static Expr typed_value(const Expr& value) {
    const auto* tuple = as<TupleNode>(value);
    if (!tuple || tuple->checked_type()) return value;
    std::vector<Expr> fields;
    std::vector<Type> types;
    for (const Expr& field : tuple->fields()) {
      fields.push_back(typed_value(field));
      types.push_back(fields.back()->checked_type());
    }
    return make_tuple(std::move(fields), tuple->with_type(tuple_type(std::move(types))));
  }

  static Call with_args_typed(const CallNode& call, const Type& type) {
    std::vector<Expr> args;
    for (const Expr& arg : call.args()) args.push_back(typed_value(arg));
    return make_call(call.callee(), std::move(args), call.attrs(), call.with_type(type));
  }

  static Expr constants(std::vector<NDArray> values, const Expr& original, const OriginSet& origins) {
    const NodeInfo info(origins, original->span(), {});
    const auto* tuple = as_type<TupleTypeNode>(original->checked_type());
    BATON_CHECK(values.size() == (tuple ? tuple->fields().size() : 1),
                "an evaluator returned another number of outputs");
    if (!tuple) return make_constant(std::move(values[0]), info);
    std::vector<Expr> fields;
    for (NDArray& value : values) fields.push_back(make_constant(std::move(value), info));
    return make_tuple(std::move(fields),
                      NodeInfo(OriginSet::none(), original->span(), original->checked_type()));
  }

  // The argument is only asked for its type, so it need not be a constant.
  Expr fold_shape(const CallNode& original, const CallNode& call, const Expr& rebuilt) {
    const TensorTypeNode* type = static_type_of(original.args()[0]);
    if (!type) return rebuilt;
    const DType dtype = dtype_attr(call, "dtype");
    if (!dtype.is_int() || (dtype.bits != 32 && dtype.bits != 64)) return rebuilt;
    const std::vector<int64_t> extents = type->extents();
    retire_all(call.args()[0], "only its shape was used");
    if (call.op()->name == "shape_of") return constant(integers({type->rank()}, extents, dtype), call.span());
    int64_t size = 1;
    for (int64_t extent : extents) size *= extent;
    return constant(integers({}, {size}, dtype), call.span());
  }

  Evaluator& evaluator_;
  bool fold_qnn_;
};

}  // namespace

Expr fold_constants(const Expr& expr, Evaluator& evaluator, bool fold_qnn) {
  return ConstantFolder(evaluator, fold_qnn).run(expr);
}

Pass fold_constant_with(bool fold_qnn) {
  return function_pass(
      {2, "FoldConstant", {}},
      [fold_qnn](const Function& function, const IRModule&, const PassContext& context) {
        return as_ref<FunctionNode>(fold_constants(function, evaluator_of(context), fold_qnn));
      },
      /*may_retire=*/true);
}

Pass fold_constant(const PassArgs& args) {
  PassArgReader reader("FoldConstant", args);
  const bool fold_qnn = reader.flag("fold_qnn", false);
  reader.finish();
  return fold_constant_with(fold_qnn);
}

}  // namespace baton
