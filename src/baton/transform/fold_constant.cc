// op(constants)                  ->  its value, computed by the operator's own definition
// shape_of(x), ndarray_size(x)   ->  a constant, when the shape of x is known
// let v = constant; body         ->  body with v replaced; the constant may be under on_device
// op(on_device(constant))        ->  its value
// if (constant) {a} else {b}     ->  the branch taken
// (a, b).0                       ->  a
// With fold_qnn, also quantised operators, in their lowered integer form. A large value with a single use is
// deferred until its user is folded, so that the evaluator can compute both together without materializing
// the intermediate value. Not folded: operators without inputs (a full tensor is smaller as an operator than
// as data), stateful operators, annotations, and operators without a compute.
#include "baton/transform/fold_constant.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "baton/ir/build.h"
#include "baton/ir/rules/algebra.h"
#include "baton/ir/rules/legalize_rule.h"
#include "baton/ir/visit.h"
#include "baton/pass/rewriter.h"
#include "baton/support/diagnostic.h"
#include "baton/transform/constant_value.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

/// The origins of a constant, of a tuple of constants, or of a call that will be folded.
OriginSet origins_of_value(const Expr& value) {
  OriginSet origins = value->origins();
  if (const auto* call = as<CallNode>(value))
    for (const Expr& arg : call->args()) origins = origins.merge(origins_of_value(arg));
  if (const auto* tuple = as<TupleNode>(value))
    for (const Expr& field : tuple->fields()) origins = origins.merge(origins_of_value(field));
  return origins;
}

/// The value that on_device(value) places; other expressions are unchanged.
Expr without_on_device(Expr expr) {
  while (const CallNode* place = call_of(expr, "on_device")) expr = place->args()[0];
  return expr;
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

constexpr size_t kLargeBytes = 64 << 10;  // below, materializing costs nothing
constexpr int kMostPending = 8;           // length of a chain of deferred calls

/// The single user of each call in the whole program; null when it has several users, or one that is not a
/// call.
using Readers = std::unordered_map<const ExprNode*, const CallNode*>;

Readers readers_in(const Expr& root) {
  Readers readers;
  post_order(root, [&](const Expr& node) {
    for_each_child(*node, [&](const Expr& child) {
      if (child->kind() != ExprKind::kCall) return;
      const auto [at, fresh] = readers.emplace(child.get(), as<CallNode>(node));
      if (!fresh) at->second = nullptr;
    });
  });
  return readers;
}

/// Whether one loop nest could compute both: each element of the reader depends on at most one element of
/// `value`, and both are large tensors.
bool could_be_one_walk(const CallNode& value, const CallNode& reader) {
  const OpDef* op = reader.op();
  if (!op || !op->compute || op->rules.get<ValueOfType>() || op->stateful || op->non_computational ||
      op->fuse > Fuse::kInjective)
    return false;
  const TensorTypeNode *type = static_type_of(Expr(&value)), *result = static_type_of(Expr(&reader));
  if (!type || !result) return false;
  const auto elements = element_count(type->extents()), results = element_count(result->extents());
  return elements && results && *results <= *elements &&
         static_cast<size_t>(*elements) >= kLargeBytes / std::max<size_t>(type->dtype().bytes(), 1);
}

class ConstantFolder final : public Rewriter {
 public:
  ConstantFolder(const BuildContext& context, bool fold_qnn, Expr root)
      : context_(context), fold_qnn_(fold_qnn), root_(std::move(root)) {}
  Expr fold() { return run(root_); }

 private:
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    if (const auto* call = as<CallNode>(rebuilt)) return fold_call(original, *call, rebuilt);
    if (const auto* item = as<TupleGetItemNode>(rebuilt)) return fold_item(*item, rebuilt);
    if (const auto* branch = as<IfNode>(rebuilt)) return fold_if(*branch, rebuilt);
    if (const auto* let = as<LetNode>(rebuilt)) return drop_let(*let, rebuilt);
    return rebuilt;
  }

  void let_value(const LetNode& let, const Expr& value) override {
    if (without_on_device(value)->kind() == ExprKind::kConstant) map(let.var(), value);
  }

  Expr drop_let(const LetNode& let, const Expr& rebuilt) {
    if (without_on_device(let.value())->kind() != ExprKind::kConstant) return rebuilt;
    retire(origins_of_value(let.value()),
           "the value is never used");  // the uses of the value keep its origins
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
    if (!tuple || static_cast<size_t>(item.index()) >= tuple->fields().size()) return rebuilt;
    for (size_t i = 0; i < tuple->fields().size(); ++i)
      if (static_cast<int>(i) != item.index()) retire_all(tuple->fields()[i], "the result is never used");
    return tuple->fields()[item.index()];
  }

  Expr fold_call(const Expr& original, const CallNode& call, const Expr& rebuilt) {
    const OpDef* op = call.op();
    if (!op || op->stateful || call.args().empty() || !original->checked_type()) return rebuilt;
    if (op->non_computational && !(fold_qnn_ && op->name.starts_with("qnn."))) return rebuilt;
    if (const auto* asks = op->rules.get<ValueOfType>())
      return fold_shape(*as<CallNode>(original), call, *asks, rebuilt);
    const bool known = std::all_of(call.args().begin(), call.args().end(), [&](const Expr& arg) {
      return is_value(without_on_device(arg)) || is_pending(arg);
    });
    if (!known) return compute_pending(call, rebuilt);
    if (std::ranges::any_of(call.args(), [](const Expr& arg) { return call_of(arg, "on_device"); }))
      return fold_placed(original, call, rebuilt);
    OriginSet origins = call.origins();
    for (const Expr& arg : call.args()) origins = origins.merge(origins_of_value(arg));
    if (op->non_computational) return fold_quantized(*as<CallNode>(original), call, rebuilt, origins);
    const Call typed = with_args_typed(call, original->checked_type());
    if (may_wait(*as<CallNode>(original), *typed)) {
      pending_.emplace(typed.get(), Pending{typed, rebuilt, depth(*typed)});
      return typed;
    }
    if (const Expr folded = evaluate(*typed, original, origins)) {
      release_arguments(*as<CallNode>(original), call);
      return folded;
    }
    const Expr alone = compute_pending(call, rebuilt);  // computing them together may have been unsupported
    return alone == rebuilt ? rebuilt : fold_call(original, *as<CallNode>(alone), alone);
  }

  /// Lets go of folded arguments that nothing else reads: packed weights are as large as those that they are
  /// made of, and these would stay until all are packed.
  void release_arguments(const CallNode& original, const CallNode& call) {
    for (size_t i = 0; i < call.args().size(); ++i) {
      const Expr &was = original.args()[i], &value = call.args()[i];
      if (was == value || was->kind() != ExprKind::kCall || value->kind() != ExprKind::kConstant) continue;
      if (!readers_) readers_ = readers_in(root_);
      if (const auto reader = readers_->find(was.get());
          reader != readers_->end() && reader->second == &original)
        map(was, was);
    }
  }

  /// A call over constants, some of them under on_device.
  Expr fold_placed(const Expr& original, const CallNode& call, const Expr& rebuilt) {
    if (const Expr alone = compute_pending(call, rebuilt); alone != rebuilt)
      return fold_call(original, *as<CallNode>(alone), alone);
    std::vector<Expr> args;
    OriginSet origins = call.origins();
    for (const Expr& arg : call.args()) {
      origins = origins.merge(origins_of_value(arg));
      args.push_back(without_on_device(arg));
    }
    const Call plain = make_call(call.callee(), std::move(args), call.attrs(), call.with_type({}));
    if (call.op()->non_computational)
      return fold_quantized(*as<CallNode>(original), *plain, rebuilt, origins);
    const Expr folded = evaluate(*with_args_typed(*plain, original->checked_type()), original, origins);
    return folded ? folded : rebuilt;
  }

  /// Null when it can only be computed at run time.
  Expr evaluate(const CallNode& typed, const Expr& original, const OriginSet& origins) {
    auto values = value_if_known(typed, context_);
    return values ? constants(std::move(*values), original, origins) : Expr();
  }

  // ---- Deferred calls

  struct Pending {
    Call typed;
    Expr rebuilt;  // the result if it cannot be folded
    int depth;
  };

  bool is_pending(const Expr& expr) const { return pending_.contains(expr.get()); }

  /// The length of the chain of deferred calls that ends in this one.
  int depth(const CallNode& call) const {
    int most = 0;
    for (const Expr& arg : call.args())
      if (const auto at = pending_.find(arg.get()); at != pending_.end())
        most = std::max(most, at->second.depth);
    return most + 1;
  }

  bool may_wait(const CallNode& original, const CallNode& typed) {
    const TensorTypeNode* type = static_type_of(Expr(&original));
    if (!type || byte_count(type->extents(), type->dtype()).value_or(0) < static_cast<int64_t>(kLargeBytes))
      return false;
    if (!readers_) readers_ = readers_in(root_);
    const auto reader = readers_->find(&original);
    return reader != readers_->end() && reader->second && could_be_one_walk(original, *reader->second) &&
           depth(typed) < kMostPending;
  }

  /// The call with its deferred arguments folded; `rebuilt` itself when there are none.
  Expr compute_pending(const CallNode& call, const Expr& rebuilt) {
    std::vector<Expr> args;
    for (const Expr& arg : call.args()) {
      const auto at = pending_.find(arg.get());
      args.push_back(at == pending_.end() ? arg : computed(at->second));
    }
    if (args == call.args()) return rebuilt;
    return make_call(call.callee(), std::move(args), call.attrs(), call.with_type({}));
  }

  Expr computed(const Pending& pending) {
    const auto value_of = [&](const CallNode& typed) {
      return evaluate(typed, pending.typed, origins_of_value(Expr(&typed)));
    };
    if (const Expr value = value_of(*pending.typed)) return value;
    const Expr alone = compute_pending(*as<CallNode>(pending.rebuilt), pending.rebuilt);
    const auto* call = as<CallNode>(alone);
    if (alone == pending.rebuilt || !std::all_of(call->args().begin(), call->args().end(), is_value))
      return alone;
    const Expr value = value_of(*with_args_typed(*call, pending.typed->checked_type()));
    return value ? value : alone;
  }

  // Folds a quantised operator through its lowered integer form.
  Expr fold_quantized(const CallNode& original, const CallNode& call, const Expr& rebuilt,
                      const OriginSet& origins) {
    const auto* rule = call.op()->rules.get<LegalizeRule>();
    if (!rule || !rule->qnn_canonicalize) return rebuilt;
    std::vector<Type> types;
    for (const Expr& arg : original.args()) types.push_back(arg->checked_type());
    const OriginScope scope(origins);
    const Expr integers = rule->qnn_canonicalize(call, types, original.checked_type(), {});
    if (!integers) return rebuilt;
    const Expr value = ConstantFolder(context_, false, infer_type(integers)).fold();
    return value->kind() == ExprKind::kConstant ? with_origins(value, origins) : rebuilt;
  }

  // Tuples over rewritten fields have lost their type, which would untype the calls that use them.
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

  // Only the argument's type is needed, so it need not be a constant.
  Expr fold_shape(const CallNode& original, const CallNode& call, ValueOfType asks, const Expr& rebuilt) {
    const TensorTypeNode* type = static_type_of(original.args()[0]);
    if (!type) return rebuilt;
    const TensorTypeNode* result = static_type_of(Expr(&original));
    if (!result) return rebuilt;
    std::vector<int64_t> values = type->extents();
    if (asks == ValueOfType::kSize) {
      int64_t size = type->rank() == 0 ? 0 : 1;  // a scalar has none, as in Relay
      for (const int64_t extent : values) size *= extent;
      values = {size};
    }
    const DType dtype = result->dtype();
    const bool integer = dtype.is_int() && (dtype.bits == 32 || dtype.bits == 64);
    NDArray array = integers(result->extents(), values, integer ? dtype : DType::int_(64));
    if (!integer) {
      const Call typed = with_args_typed(
          *as<CallNode>(call_op("cast", {constant(array)}, {{"dtype", dtype}})), original.checked_type());
      auto cast = value_if_known(*typed, context_);
      if (!cast) return rebuilt;
      array = std::move(cast->at(0));
    }
    retire_all(call.args()[0], "only its shape was used");
    return constant(array, call.span());
  }

  const BuildContext& context_;
  bool fold_qnn_;
  Expr root_;
  std::optional<Readers> readers_;  // computed on first use
  std::unordered_map<const ExprNode*, Pending> pending_;
};

}  // namespace

namespace {

// Calls are folded by their types. What cannot be typed stays as it is: InferType, which follows, says why.
Expr typed(const Function& function, const IRModuleNode& module) {
  if (function->checked_type()) return function;
  try {
    return infer_type(function, &module);
  } catch (const DiagnosticError&) {
    return function;
  }
}

}  // namespace

Expr fold_constants(const Expr& expr, const BuildContext& context, bool fold_qnn) {
  return ConstantFolder(context, fold_qnn, expr).fold();
}

Pass fold_constant_with(bool fold_qnn) {
  return function_pass(
      {2, "FoldConstant", {}},
      [fold_qnn](const Function& function, const IRModule& module, const BuildContext& context) {
        return as_ref<FunctionNode>(fold_constants(typed(function, *module), context, fold_qnn));
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
