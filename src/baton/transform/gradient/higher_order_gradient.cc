// Reverse-mode differentiation for all of Relay. A tensor becomes a pair of its value and a reference to its
// adjoint:
//   Tensor  ->  (Tensor, ref(Tensor)),   fn (A) -> B  ->  fn (A', ref(fn () -> ())) -> B'
// The last parameter, bp, holds the backward closure. An operator computes its result, makes the pair, and
// prepends its backward step:
//   f(x)  ->  let y = (f(x.0), ref(zeros_like(f(x.0)))); let rest = ref_read(bp);
//             ref_write(bp, fn () { x.1 += the adjoint of x in f for y.1; rest() }); y
// The backward code is in A-normal form: each value is computed once, in order.
#include "baton/ir/analysis/normal_form.h"
#include "baton/ir/build.h"
#include "baton/ir/let_list.h"
#include "baton/ir/visit.h"
#include "baton/support/error.h"
#include "baton/transform/gradient/gradient.h"
#include "baton/transform/gradient/tensor_rewriter.h"

namespace baton {

namespace {

Type back_type() { return ref_type(func_type({}, tuple_type({}))); }

// The transformed type of values of type `type`.
Type paired(const Type& type) {
  return rewrite_type(type, [](const Type& part) -> Type {
    if (part->kind() == TypeKind::kTensor) return tuple_type({part, ref_type(part)});
    const auto* function = as_type<FuncTypeNode>(part);
    if (!function) return {};
    std::vector<Type> params;
    for (const Type& param : function->params()) params.push_back(paired(param));
    params.push_back(back_type());
    return func_type(std::move(params), paired(function->result()), function->type_params());
  });
}

const NodeInfo kNothing(OriginSet::none());

Expr pair_of(Expr first, Expr second) { return make_tuple({std::move(first), std::move(second)}, kNothing); }
Expr item(const Expr& tuple, int index) { return make_tuple_get_item(tuple, index, kNothing); }
Expr cell(Expr value) { return make_ref_create(std::move(value), kNothing); }
Expr read(Expr ref) { return make_ref_read(std::move(ref), kNothing); }
Expr write(Expr ref, Expr value) { return make_ref_write(std::move(ref), std::move(value), kNothing); }
Expr invoke(Expr function, std::vector<Expr> args = {}) {
  return Expr(make_call(std::move(function), std::move(args), {}, kNothing));
}
Expr with_zero(const Expr& value) { return pair_of(value, cell(Expr(call_op("zeros_like", {value})))); }

/// State shared by all functions of one transformation.
struct Shared {
  const GradientCauses& causes;
  FreshVars& fresh;
  PointerMap<Var> vars;            // transformed variables
  PointerMap<Function> functions;  // transformed function literals
  std::function<Expr(const GlobalVarNode&)> global;

  Var variable(const Var& var) {
    Var& known = vars[var.get()];
    if (!known) {
      // A let-bound variable takes its value's type.
      const Type type = var->annotation() ? var->annotation() : Type();
      known = make_var(var->name(), paired(type), NodeInfo(var->origins(), var->span()));
    }
    return known;
  }
};

/// Transforms one function's body. Its function literals have been transformed before.
class Body final : public TensorRewriter {
 public:
  Body(Shared& shared, Expr back) : shared_(shared), back_(std::move(back)) {}

  /// Constants of programs without operators are made outside the rewriter's scopes: see CauseScope.
  void make_constants(const Expr& body) {
    post_order(
        body,
        [&](const Expr& node) {
          if (node->kind() == ExprKind::kConstant) map(node, constant_pair(node));
        },
        [](const Expr& node) { return node->kind() != ExprKind::kFunction; });
  }

 private:
  bool enter(const Expr& node) override {
    refuse_operators(*node);
    return node->kind() != ExprKind::kFunction;
  }
  Var rewrite_var(const Var& var) override { return shared_.variable(var); }

  Expr rewrite_constant(const Expr& constant) override { return constant_pair(constant); }
  Expr rewrite_function(const FunctionNode& original, const Expr&) override {
    return Expr(*shared_.functions.find(&original));
  }
  Expr rewrite_global(const Expr& global) override {
    return shared_.global(static_cast<const GlobalVarNode&>(*global));
  }
  Expr tensor_in(const Expr& changed, const Type&) const override { return item(changed, 0); }

  Expr rewrite_call(const CallNode& original, const Expr& rebuilt) override {
    const auto& call = static_cast<const CallNode&>(*rebuilt);
    if (call.op()) return operation(original, call.args());
    if (call.callee()->kind() == ExprKind::kConstructor) return rebuilt;
    std::vector<Expr> args = call.args();
    args.push_back(back_);
    return Expr(make_call(call.callee(), std::move(args), call.attrs(), original.with_type({})));
  }

  Expr constant_pair(const Expr& constant) const {
    const CauseScope scope(shared_.causes.seed(constant));
    LetList list(shared_.fresh, true);
    const Expr value = list.push(constant, constant->checked_type());
    return list.close(with_zero(value));
  }

  // Only calls of operators can be transformed, not operators as values.
  static void refuse_operators(const ExprNode& node) {
    const auto* call = as<CallNode>(&node);
    for_each_child(node, [&](const Expr& child) {
      if (child->kind() == ExprKind::kOp && !(call && child == call->callee()))
        throw NotSupported("the gradient of the operator " + static_cast<const OpNode&>(*child).name() +
                           " as a value");
    });
  }

  Expr operation(const CallNode& original, const std::vector<Expr>& given) {
    LetList list(shared_.fresh, true);
    std::vector<Expr> args, values;
    for (const Expr& arg : given) args.push_back(list.push(arg));
    for (size_t i = 0; i < args.size(); ++i)
      values.push_back(value_of(original.args()[i]->checked_type(), args[i], list));
    const Type& type = original.checked_type();
    const auto call = [&] { return make_call(original.callee(), values, original.attrs(), original.info()); };
    const Expr result = list.push(made_pair(type, list.push(Expr(call()), type), list));
    const Expr rest = list.push(read(back_));

    LetList backwards(shared_.fresh, true);
    // A rule that uses the result recomputes it, in a scope of its own.
    const std::vector<Expr> adjoints = adjoints_of(call(), adjoint_of(type, result, backwards));
    for (size_t i = 0; i < args.size(); ++i)
      add_to(original.args()[i]->checked_type(), args[i], adjoints[i], backwards);
    const Function step = make_function({}, backwards.close(invoke(rest)), tuple_type({}), {}, kNothing);
    list.push(write(back_, Expr(to_normal_form(step, NormalForm::kAll, shared_.fresh.next()))));
    return list.close(result);
  }

  // Maps `leaf` over every tensor in `of`, rebuilding the tuples.
  template <class Leaf>
  static Expr over_fields(const Type& type, const Expr& of, LetList& list, const Leaf& leaf) {
    const auto* tuple = as_type<TupleTypeNode>(type);
    if (!tuple) return leaf(type, of);
    std::vector<Expr> fields;
    for (size_t i = 0; i < tuple->fields().size(); ++i)
      fields.push_back(over_fields(tuple->fields()[i], list.push(item(of, static_cast<int>(i))), list, leaf));
    return list.push(make_tuple(std::move(fields), kNothing), type);
  }

  // The value of a pair, typed: rules read types.
  static Expr value_of(const Type& type, const Expr& pair, LetList& list) {
    return over_fields(type, pair, list,
                       [&](const Type& t, const Expr& e) { return list.push(item(e, 0), t); });
  }
  static Expr made_pair(const Type& type, const Expr& value, LetList& list) {
    return over_fields(type, value, list,
                       [&](const Type&, const Expr& e) { return list.push(with_zero(e)); });
  }
  static Expr adjoint_of(const Type& type, const Expr& pair, LetList& list) {
    return over_fields(type, pair, list,
                       [&](const Type& t, const Expr& e) { return list.push(read(item(e, 1)), t); });
  }
  static void add_to(const Type& type, const Expr& pair, const Expr& more, LetList& list) {
    const auto* tuple = as_type<TupleTypeNode>(type);
    if (!tuple) {
      list.push(write(item(pair, 1), Expr(call_op("add", {read(item(pair, 1)), more}))));
      return;
    }
    for (size_t i = 0; i < tuple->fields().size(); ++i) {
      const Expr left = list.push(item(pair, static_cast<int>(i)));
      add_to(tuple->fields()[i], left, list.push(item(more, static_cast<int>(i))), list);
    }
  }

  Shared& shared_;
  const Expr back_;
};

Function transformed(const Function& function, Shared& shared) {
  std::vector<Var> params;
  for (const Var& param : function->params()) params.push_back(shared.variable(param));
  const Var back = make_var("bp", back_type(), kNothing);
  params.push_back(back);
  Body rewriter(shared, (Expr(back)));
  if (shared.causes.empty()) rewriter.make_constants(function->body());
  Expr body = rewriter.run(function->body());
  return make_function(std::move(params), std::move(body), paired(function->ret_type()), function->attrs(),
                       NodeInfo(function->origins(), function->span()), function->type_params());
}

// Transforms `function` and its function literals, innermost first.
Function transformed_all(const Function& function, Shared& shared) {
  std::vector<Function> literals;
  post_order(Expr(function), [&](const Expr& node) {
    if (node->kind() == ExprKind::kFunction) literals.push_back(as_ref<FunctionNode>(node));
  });
  for (const Function& literal : literals)
    shared.functions.insert(literal.get(), transformed(literal, shared));
  return *shared.functions.find(function.get());
}

/// Referenced module functions: their transformed versions are added on first use.
class Globals {
 public:
  explicit Globals(const IRModule& module) : module_(module) {}

  Expr operator()(const GlobalVarNode& name) {
    if (!module_)
      throw NotSupported("the gradient of a function that calls @" + name.name() +
                         " needs the module it is in");
    std::string& grad = names_[name.name()];
    if (grad.empty()) {
      if (!module_->find(name.name())) throw Error("the module has no function @" + name.name());
      grad = name.name() + "_grad";
      while (module_->find(grad)) grad += "_";
      todo_.push_back(name.name());
    }
    return Expr(module_->global_var(grad));
  }

  void finish(FreshVars& fresh) {
    while (!todo_.empty()) {
      const std::string name = std::move(todo_.back());
      todo_.pop_back();
      const Function function = module_->find(name);
      if (!function->checked_type()) throw Error("@" + name + " has no type yet: run InferType first");
      const GradientCauses causes(Expr(function), module_);
      Shared shared{causes, fresh, {}, {}, [this](const GlobalVarNode& other) { return (*this)(other); }};
      module_->set(names_.at(name), transformed_all(function, shared));
    }
  }

 private:
  const IRModule& module_;
  std::map<std::string, std::string> names_;
  std::vector<std::string> todo_;
};

// ref_write(e.1, ones_like(e.0)). For a tuple only its first tensor, as in TVM: the others keep zero
// adjoints.
void seed(const Type& type, const Expr& pair, LetList& list) {
  if (as_type<TensorTypeNode>(type)) {
    list.push(write(item(pair, 1), Expr(call_op("ones_like", {item(pair, 0)}))));
  } else if (const auto* tuple = as_type<TupleTypeNode>(type); tuple && !tuple->fields().empty()) {
    seed(tuple->fields()[0], list.push(item(pair, 0)), list);
  } else {
    throw NotSupported("the gradient of a result of type " + type_text(type));
  }
}

// Maps `leaf` over every tensor in `of`, rebuilding the tuples.
template <class Leaf>
Expr for_tensors(const Type& type, const Expr& of, LetList& list, const Leaf& leaf) {
  const auto* tuple = as_type<TupleTypeNode>(type);
  if (!tuple && !as_type<TensorTypeNode>(type))
    throw NotSupported("the gradient by a parameter of type " + type_text(type));
  if (!tuple) return leaf(of);
  std::vector<Expr> items, fields;
  for (size_t i = 0; i < tuple->fields().size(); ++i)
    items.push_back(list.push(item(of, static_cast<int>(i))));
  for (size_t i = 0; i < items.size(); ++i)
    fields.push_back(for_tensors(tuple->fields()[i], items[i], list, leaf));
  return make_tuple(std::move(fields), kNothing);
}

}  // namespace

Function higher_order_gradient(const Function& function, const IRModule& module) {
  const GradientCauses causes(Expr(function), module);
  FreshVars fresh;
  Globals globals(module);
  Shared shared{causes, fresh, {}, {}, [&](const GlobalVarNode& name) { return globals(name); }};
  LetList list(fresh);
  const Function nothing = make_function({}, make_tuple({}, kNothing), tuple_type({}), {}, kNothing);
  const Expr back = list.push(cell(Expr(nothing)));
  const Function forward = transformed_all(function, shared);
  std::vector<Expr> args;
  std::vector<Type> types;
  for (const Var& param : function->params()) {
    const CauseScope scope(causes.seed(Expr(param)));
    args.push_back(list.push(for_tensors(param->checked_type(), Expr(param), list, with_zero)));
    types.push_back(param->checked_type());
  }
  std::vector<Expr> all = args;
  all.push_back(back);
  // Calls of functions get the origins of the function's operators.
  const Expr result =
      list.push(Expr(make_call(Expr(forward), std::move(all), {}, NodeInfo(forward->origins()))));
  const Type& type = function->body()->checked_type();
  {
    const CauseScope scope(causes.seed(function->body()));
    seed(type, result, list);
  }
  list.push(invoke(read(back)));
  const Expr value = for_tensors(type, result, list, [](const Expr& pair) { return item(pair, 0); });
  std::vector<Expr> gradients;
  for (size_t i = 0; i < args.size(); ++i)
    gradients.push_back(
        for_tensors(types[i], args[i], list, [](const Expr& pair) { return read(item(pair, 1)); }));
  const Expr body = list.close(pair_of(value, make_tuple(std::move(gradients), kNothing)));
  globals.finish(fresh);
  return make_function(function->params(), body, tuple_type({type, tuple_type(std::move(types))}), {},
                       NodeInfo(function->origins(), function->span()));
}

}  // namespace baton
