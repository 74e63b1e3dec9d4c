// Operators that gain from a smaller float type compute in it, those that would lose too much in float32, and
// the rest follow their inputs (ir/rules/mixed_precision_rule.h); casts stand where the two meet, one per
// value and type.
//   conv2d(x, w) -> relu -> softmax  =>  conv2d(cast(x, f16), cast(w, f16)) -> relu -> cast(., f32) ->
//   softmax
// Parameters keep their types; results may change theirs, unless the function is called by name or
// relay.ToMixedPrecision.keep_orig_output_dtype is set.
#include <algorithm>
#include <deque>
#include <map>
#include <optional>

#include "baton/ir/adt.h"
#include "baton/ir/analysis/call_graph.h"
#include "baton/ir/build.h"
#include "baton/ir/rules/mixed_precision_rule.h"
#include "baton/ir/variables.h"
#include "baton/ir/visit.h"
#include "baton/pass/causes.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/support/log.h"
#include "baton/types/infer_type.h"
#include "baton/types/known_types.h"

namespace baton {

namespace {

bool is_real(DType dtype) { return dtype.is_float() || dtype.is_bfloat(); }

/// Whether `holds` is true for every tensor of `type`.
template <class Holds>
bool all_tensors(const Type& type, Holds&& holds) {
  if (const auto* tensor = as_type<TensorTypeNode>(type)) return holds(tensor->dtype());
  const auto* tuple = as_type<TupleTypeNode>(type);
  return tuple &&
         std::ranges::all_of(tuple->fields(), [&](const Type& field) { return all_tensors(field, holds); });
}

class MixedPrecisionRewriter final : public Rewriter {
 public:
  /// `keep_result`: asked when the result of `function` would change its type.
  MixedPrecisionRewriter(const IRModuleNode& module, DType small, const Function& function,
                         std::function<bool()> keep_result)
      : module_(module),
        small_(small),
        root_(function.get()),
        keep_result_(std::move(keep_result)),
        causes_(Expr(function)) {}
  const std::map<std::string, int>& missing() const { return missing_; }

 private:
  bool enter(const Expr& node) override {
    // A closure that calls itself is used before its new result type could be known.
    if (const auto* let = as<LetNode>(node); let && as<FunctionNode>(let->value())) {
      const std::vector<Var> free = free_vars(let->value());
      if (std::ranges::count(free, let->var()) > 0 || is_handed_on(*let->var()))
        keep_.insert(let->value().get());
    }
    if (const auto* call = as<CallNode>(node))
      for (const Expr& arg : call->args())
        if (arg->kind() == ExprKind::kFunction) keep_.insert(arg.get());
    return true;
  }

  // Whoever gets a function as an argument says of which type it is.
  bool is_handed_on(const VarNode& var) {
    if (!handed_on_) {
      handed_on_.emplace();
      post_order(Expr(root_), [&](const Expr& node) {
        const auto* call = as<CallNode>(node);
        if (!call) return;
        for (const Expr& arg : call->args())
          if (arg->kind() == ExprKind::kVar) handed_on_->insert(arg.get());
      });
    }
    return handed_on_->contains(&var);
  }

  void let_value(const LetNode& let, const Expr& value) override {
    const Var& var = let.var();
    Var now = var;
    if (value->checked_type() && !same_type(var->checked_type(), value->checked_type())) {
      const Type annotation = var->annotation() ? value->checked_type() : Type();
      now = make_var(var->name(), annotation, var->with_type(value->checked_type()));
      map(Expr(var), Expr(now));
    }
    causes_.bind(now, value);
  }

  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    switch (original->kind()) {
      case ExprKind::kCall:
        return typed(rewrite_call(*as<CallNode>(original), *as<CallNode>(rebuilt)));
      case ExprKind::kFunction:
        return typed(rewrite_function(original, *as<FunctionNode>(rebuilt)));
      case ExprKind::kIf: {
        const auto *was = as<IfNode>(original), *now = as<IfNode>(rebuilt);
        if (rebuilt == original || same_type(now->then()->checked_type(), now->otherwise()->checked_type()))
          break;
        return typed(make_if(now->condition(), back_to(now->then(), was->checked_type()),
                             back_to(now->otherwise(), was->checked_type()), was->with_type({})));
      }
      case ExprKind::kMatch: {
        const auto *was = as<MatchNode>(original), *now = as<MatchNode>(rebuilt);
        if (rebuilt == original) break;
        std::vector<Clause> clauses = now->clauses();
        for (Clause& clause : clauses) clause.body = back_to(clause.body, was->checked_type());
        return typed(make_match(now->data(), std::move(clauses), now->complete(), was->with_type({})));
      }
      case ExprKind::kRefWrite: {
        const auto* write = as<RefWriteNode>(rebuilt);
        const auto* cell = as_type<RefTypeNode>(write->ref()->checked_type());
        if (rebuilt == original || !cell) break;
        return typed(
            make_ref_write(write->ref(), back_to(write->value(), cell->value()), original->with_type({})));
      }
      case ExprKind::kVar:
      case ExprKind::kGlobalVar:
      case ExprKind::kConstant:
      case ExprKind::kOp:
      case ExprKind::kConstructor:
      case ExprKind::kTuple:
      case ExprKind::kTupleGetItem:
      case ExprKind::kLet:
      case ExprKind::kRefCreate:
      case ExprKind::kRefRead:
        break;
    }
    return typed(rebuilt);
  }

  // ---- Calls

  Expr rewrite_call(const CallNode& original, const CallNode& call) {
    if (!call.op()) return call_with_types_of(original, call);
    const MixedPrecisionRule rule = rule_of(original);
    const bool small = rule.colour == MixedPrecision::kAlways ||
                       (rule.colour == MixedPrecision::kFollow && can_be_small(call));
    const DType wanted = small ? small_ : DType::float_(32);
    bool changed = false;
    std::vector<Expr> args;
    for (const Expr& arg : call.args()) {
      args.push_back(cast_to(arg, arg->checked_type(), wanted, original));
      changed |= args.back() != arg;
    }
    if (!small)
      return changed ? Expr(make_call(call.callee(), std::move(args), call.attrs(), original.with_type({})))
                     : Expr(&call);
    Attrs attrs = attrs_for(original, rule.accumulates);
    if (!changed && attrs == call.attrs()) return Expr(&call);
    const Expr result =
        typed(make_call(call.callee(), std::move(args), std::move(attrs), original.with_type({})));
    if (rule.accumulates == rule.result) return result;
    const Expr handed_on = cast_to(result, result->checked_type(), rule.result, original);
    if (handed_on != result)
      casts_to(rule.accumulates).casts.insert(handed_on.get(), result);  // casting back is free
    return handed_on;
  }

  MixedPrecisionRule rule_of(const CallNode& call) {
    if (const auto rule = mixed_precision_of(call, small_)) return *rule;
    ++missing_[call.op()->name];
    // Scales of quantised operators are float32.
    if (call.op()->name.starts_with("qnn."))
      return {MixedPrecision::kNever, DType::float_(32), DType::float_(32)};
    return {MixedPrecision::kFollow, small_, small_};
  }

  // Variables and constants can be cast where they are used; integers do not matter.
  bool can_be_small(const CallNode& call) const {
    return std::ranges::all_of(call.args(), [&](const Expr& arg) {
      if (arg->kind() == ExprKind::kVar || arg->kind() == ExprKind::kConstant) return true;
      return all_tensors(arg->checked_type(),
                         [&](DType dtype) { return dtype == small_ || !is_real(dtype); });
    });
  }

  // The attributes that name the result's type: `out_dtype`, and `dtype` of what makes tensors out of
  // nothing.
  static Attrs attrs_for(const CallNode& call, DType dtype) {
    if (!call.attrs() || !all_tensors(call.checked_type(), is_real)) return call.attrs();
    const bool creates = call.attrs()->schema().type_key == "relay.attrs.InitOpAttrs";
    const char* name = creates ? "dtype" : "out_dtype";
    const AttrValue now = call.attrs()->get(name);
    const DType* given = now.as<DType>();
    if (!given || *given == dtype || (!given->is_void() && !is_real(*given))) return call.attrs();
    return with_fields(call.attrs(), {{name, dtype}});
  }

  // Functions and constructors get what they got before.
  Expr call_with_types_of(const CallNode& original, const CallNode& call) {
    std::vector<Expr> args;
    bool changed = false;
    for (size_t i = 0; i < call.args().size(); ++i) {
      args.push_back(back_to(call.args()[i], original.args()[i]->checked_type()));
      changed |= args.back() != call.args()[i];
    }
    return changed ? Expr(make_call(call.callee(), std::move(args), call.attrs(), original.with_type({})))
                   : Expr(&call);
  }

  // ---- Functions

  Expr rewrite_function(const Expr& original, const FunctionNode& function) {
    const auto& was = *as<FunctionNode>(original);
    if (&function == original.get()) return original;
    Expr body = function.body();
    const Type& type = was.body()->checked_type();
    if (!same_type(body->checked_type(), type) &&
        (original.get() == root_ ? keep_result_() : keep_.contains(original.get())))
      body = result_as(body, type);
    return make_function(function.params(), body, {}, was.attrs(), was.with_type({}), function.type_params());
  }

  // The body of a function with a result of type `want`: below its lets, and field by field.
  Expr result_as(const Expr& body, const Type& want) {
    std::vector<const LetNode*> lets;
    Expr result = body;
    while (const auto* let = as<LetNode>(result)) {
      lets.push_back(let);
      result = let->body();
    }
    const auto* fields = as_type<TupleTypeNode>(want);
    if (const auto* tuple = as<TupleNode>(result);
        tuple && fields && !same_type(tuple->checked_type(), want)) {
      std::vector<Expr> cast;
      for (size_t i = 0; i < tuple->fields().size(); ++i)
        cast.push_back(back_to(tuple->fields()[i], fields->fields()[i]));
      result = typed(make_tuple(std::move(cast), tuple->with_type({})));
    } else {
      result = back_to(result, want);
    }
    if (lets.empty() || result == lets.back()->body()) return lets.empty() ? result : body;
    for (; !lets.empty(); lets.pop_back())
      result = typed(make_let(lets.back()->var(), lets.back()->value(), result, lets.back()->with_type({})));
    return result;
  }

  // ---- Casts

  /// `expr` with every float tensor cast to `wanted`, for `user`.
  Expr cast_to(const Expr& expr, const Type& type, DType wanted, const CallNode& user) {
    if (all_tensors(type, [&](DType dtype) { return dtype == wanted || !is_real(dtype); })) return expr;
    if (const auto* tensor = as_type<TensorTypeNode>(type))
      return cast(expr, *tensor, wanted, user.origins(),
                  [&] { return user.op()->name + " computes in " + wanted.str(); });
    const auto* tuple = as_type<TupleTypeNode>(type);
    if (!tuple) return expr;
    std::vector<Expr> fields;
    for (size_t i = 0; i < tuple->fields().size(); ++i)
      fields.push_back(cast_to(item(expr, i, tuple->fields()[i]), tuple->fields()[i], wanted, user));
    return typed(make_tuple(std::move(fields), NodeInfo(OriginSet::none(), expr->span())));
  }

  /// `expr` with float tensors of the types they have in `want`, the type of the program.
  Expr back_to(const Expr& expr, const Type& want) {
    const Type& type = expr->checked_type();
    if (!type || !want || same_type(type, want)) return expr;
    const auto *tensor = as_type<TensorTypeNode>(type), *wanted = as_type<TensorTypeNode>(want);
    if (tensor && wanted && is_real(tensor->dtype()) && is_real(wanted->dtype()))
      return cast(expr, *tensor, wanted->dtype(), causes_.of(expr),
                  [] { return "the value keeps the type it has in the program"; });
    const auto *tuple = as_type<TupleTypeNode>(type), *fields = as_type<TupleTypeNode>(want);
    if (!tuple || !fields) return expr;
    std::vector<Expr> cast;
    for (size_t i = 0; i < fields->fields().size(); ++i)
      cast.push_back(back_to(item(expr, i, tuple->fields()[i]), fields->fields()[i]));
    return typed(make_tuple(std::move(cast), NodeInfo(OriginSet::none(), expr->span())));
  }

  static Expr item(const Expr& tuple, size_t index, const Type& type) {
    return make_tuple_get_item(tuple, static_cast<int>(index),
                               NodeInfo(OriginSet::none(), tuple->span(), type));
  }

  template <class Reason>
  Expr cast(const Expr& expr, const TensorTypeNode& from, DType to, const OriginSet& causes,
            Reason&& reason) {
    if (from.dtype() == to) return expr;
    PointerMap<Expr>& casts = casts_to(to).casts;
    if (const Expr* known = casts.find(expr.get())) return *known;
    const OriginSet made = causes.empty() ? OriginSet::none() : OriginSet::made_for(causes, reason());
    static const Expr op = op_expr(*find_op("cast"));
    const Expr result = make_call(op, {expr}, casts_to(to).attrs,
                                  NodeInfo(made, expr->span(), tensor_type(from.shape(), to)));
    casts.insert(expr.get(), result);
    return result;
  }

  // What was cast to one type; the casts keep it alive.
  struct Casts {
    DType dtype;
    Attrs attrs;
    PointerMap<Expr> casts = {};
  };
  Casts& casts_to(DType dtype) {
    for (Casts& casts : casts_)
      if (casts.dtype == dtype) return casts;
    return casts_.emplace_back(Casts{dtype, make_attrs(*find_op("cast")->attrs, {{"dtype", dtype}})});
  }

  /// Typed, so that its users can ask for its type.
  Expr typed(const Expr& expr) const { return typed_node(expr, module_); }

  const IRModuleNode& module_;
  DType small_;
  const FunctionNode* root_;
  std::function<bool()> keep_result_;
  PointerSet keep_;                      // closures whose result keeps its type
  std::optional<PointerSet> handed_on_;  // variables that are arguments; nothing before somebody asks
  std::deque<Casts> casts_;
  Causes causes_;
  std::map<std::string, int> missing_;
};

/// Whether some function of `module` calls `function`, or hands it on.
bool is_named(const Function& function, const IRModuleNode& module) {
  std::string name;
  for (const auto& [at, each] : module.functions())
    if (each == function) name = at;
  return std::ranges::any_of(
      module.functions(), [&](const auto& each) { return functions_named_by(each.second).contains(name); });
}

void report_missing(const std::map<std::string, int>& missing, int64_t mode) {
  std::string names;
  for (const auto& [name, count] : missing) {
    if (mode != 2)
      log_line("ToMixedPrecision: nothing says in which precision " + name + " computes (" +
               std::to_string(count) + (count == 1 ? " call" : " calls") + "): it follows its inputs");
    names += (names.empty() ? "" : ", ") + name;
  }
  if (mode == 0 && !missing.empty())
    throw UsageError(
        "ToMixedPrecision: nothing says in which precision these operators compute: " + names +
        "; register_mixed_precision_conversion does, and missing_op_mode=1 lets them follow their inputs");
}

}  // namespace

Pass to_mixed_precision(const PassArgs& args) {
  PassArgReader reader("ToMixedPrecision", args);
  const std::string text = reader.text("mixed_precision_type", "float16");
  const int64_t mode = reader.integer("missing_op_mode", 1);
  reader.finish();
  const auto small = DType::parse(text);
  if (!small || !is_real(*small) || !small->is_scalar())
    throw UsageError("ToMixedPrecision: mixed_precision_type is \"" + text +
                     "\"; a float type such as float16 or bfloat16 is expected");
  if (mode < 0 || mode > 2) throw UsageError("Missing op mode is either 0, 1, or 2");
  return function_pass(
      {0, "ToMixedPrecision", {}},
      [small, mode](const Function& given, const IRModule& module, const PassContext& context) {
        const bool keep_result = context.config.flag("relay.ToMixedPrecision.keep_orig_output_dtype", false);
        const Function function = as_ref<FunctionNode>(infer_type(Expr(given), module.get()));
        MixedPrecisionRewriter rewriter(*module, *small, function,
                                        [&] { return keep_result || is_named(given, *module); });
        const Function result = as_ref<FunctionNode>(rewriter.run(function));
        report_missing(rewriter.missing(), mode);
        return result;
      });
}

}  // namespace baton
