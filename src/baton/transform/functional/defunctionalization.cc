// Functions used as values become data:
//   def @twice(%f: fn (int32) -> int32, %x: int32) { %f(%f(%x)) }
//   @twice(fn (%y) { add(%y, %z) }, 1)
// becomes
//   type T0 { T0_0(int32) }
//   def @apply_T0(%f: T0[], %y: int32) { match (%f) { T0_0(%z) => add(%y, %z) } }
//   def @twice_0(%f: T0[], %x: int32) { @apply_T0(%f, @apply_T0(%f, %x)) }
//   @twice_0(T0_0(%z), 1)
// A function literal that is called directly is inlined.

#include "baton/transform/functional/defunctionalization.h"

#include <algorithm>

#include "baton/ir/adt.h"
#include "baton/ir/build.h"
#include "baton/ir/functions.h"
#include "baton/ir/variables.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/text/printer.h"
#include "baton/transform/functional/defunctionalized_module.h"
#include "baton/transform/own_variables.h"
#include "baton/types/infer_type.h"
#include "baton/types/match_types.h"

namespace baton {

namespace defunctionalized {
namespace {

/// `function`, which is polymorphic, for `types` in the place of `vars`. Its variables are its own.
class Instance final : public Rewriter {
 public:
  Instance(const FunctionNode& function, const std::vector<TypeVar>& vars, const std::vector<Type>& types)
      : vars_(vars), types_(types) {
    for (const Var& var : bound_vars(Expr(&function))) bound_.insert(var.get());
  }

 private:
  bool enter(const Expr&) override { return true; }
  Type here(const Type& type) const { return type ? substitute_types(type, vars_, types_) : type; }
  Var rewrite_var(const Var& var) override {
    if (!bound_.contains(var.get())) return var;
    return make_var(var->name(), here(var->annotation()), NodeInfo(var->origins(), var->span()));
  }
  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    const auto* function = as<FunctionNode>(rebuilt);
    if (!function) return rebuilt;
    std::vector<TypeVar> left = function->type_params();
    std::erase_if(left, [&](const TypeVar& var) { return std::ranges::find(vars_, var) != vars_.end(); });
    return make_function(function->params(), function->body(), here(function->ret_type()), function->attrs(),
                         function->with_type({}), std::move(left));
  }
  const std::vector<TypeVar>& vars_;
  const std::vector<Type>& types_;
  PointerSet bound_;
};

/// Gives every polymorphic function that is called or passed on the types that the call determines:
///   @apply(fn [A] (%x: A) -> A { %x }, 1f)  ->  @apply(fn (%x: float32) -> float32 { %x }, 1f)
class Instantiator final : public Rewriter {
 public:
  explicit Instantiator(const IRModuleNode& module) : module_(module) {}
  bool changed() const { return changed_; }

 private:
  bool enter(const Expr&) override { return true; }

  static const FunctionNode* open_literal(const Expr& expr) {
    const auto* function = as<FunctionNode>(expr);
    return function && !function->type_params().empty() ? function : nullptr;
  }

  // A name for a polymorphic function stands for a copy of it at each use.
  void let_value(const LetNode& let, const Expr& value) override {
    if (!open_literal(value)) return;
    const std::vector<Var> free = free_vars(value);
    if (std::ranges::find(free, let.var()) != free.end()) return;
    map(Expr(let.var()), value);
    copied_.insert(let.var().get());
  }

  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    if (const auto* let = as<LetNode>(original)) return without_copied(*let, rebuilt);
    const auto *call = as<CallNode>(original), *over = as<CallNode>(rebuilt);
    if (!call || (std::ranges::none_of(over->args(), open_literal) && !open_literal(over->callee())))
      return rebuilt;
    std::vector<Type> given;
    for (const Expr& arg : call->args()) given.push_back(arg->checked_type());
    const Expr callee = instance(over->callee(), func_type(std::move(given), call->checked_type()));
    const std::vector<Type> wanted = wanted_types(*call, *over);
    std::vector<Expr> args = over->args();
    for (size_t i = 0; i < args.size() && i < wanted.size(); ++i) args[i] = instance(args[i], wanted[i]);
    return make_call(callee, std::move(args), over->attrs(), call->with_type({}));
  }

  Expr without_copied(const LetNode& let, const Expr& rebuilt) {
    if (!copied_.contains(let.var().get())) return rebuilt;
    const std::vector<Var> used = free_vars(let.body());
    if (std::ranges::find(used, let.var()) == used.end()) retire_all(let.value(), "the function is not used");
    changed_ = true;
    return as<LetNode>(rebuilt)->body();
  }

  /// `expr` with the types that make it a function of type `wanted`, if it is a polymorphic one.
  Expr instance(const Expr& expr, const Type& wanted) {
    const FunctionNode* open = open_literal(expr);
    if (!open || !wanted) return expr;
    std::vector<TypeVar> vars;
    std::vector<Type> types;
    match_types(type_of(*open), wanted, open->type_params(), vars, types);
    changed_ = true;
    return Instance(*open, vars, types).run(expr);
  }

  /// What `call` takes as its arguments, as far as the result and the arguments that are not polymorphic say.
  std::vector<Type> wanted_types(const CallNode& call, const CallNode& over) const {
    const auto* name = as<GlobalVarNode>(call.callee());
    const Function function = name ? module_.find(name->name()) : Function();
    if (!function) {
      const auto* type = as_type<FuncTypeNode>(call.callee()->checked_type());
      return type ? type->params() : std::vector<Type>();
    }
    std::vector<TypeVar> vars;
    std::vector<Type> types;
    for (size_t i = 0; i < call.args().size(); ++i)
      if (!open_literal(over.args()[i]))
        match_types(declared_type(*function->params()[i]), call.args()[i]->checked_type(),
                    function->type_params(), vars, types);
    match_types(function->ret_type(), call.checked_type(), function->type_params(), vars, types);
    std::vector<Type> wanted;
    for (const Var& param : function->params())
      wanted.push_back(substitute_types(declared_type(*param), vars, types));
    return wanted;
  }

  const IRModuleNode& module_;
  PointerSet copied_;  // variables that stand for polymorphic functions
  bool changed_ = false;
};

/// Converts one function.
class Converter final : public Rewriter {
 public:
  Converter(DefunctionalizedModule& program, const Function& root, std::vector<TypeVar> vars,
            std::vector<Type> types, bool copy)
      : program_(program), root_(root.get()), vars_(std::move(vars)), types_(std::move(types)), copy_(copy) {
    post_order(Expr(root), [&](const Expr& node) {
      const auto* call = as<CallNode>(node);
      bool is_callee = call != nullptr;  // the callee is the first child
      for_each_child(*node, [&](const Expr& child) {
        const auto* function = as<FunctionNode>(child);
        if (!is_callee && (function || child->kind() == ExprKind::kGlobalVar)) kept_.insert(child.get());
        if (!is_callee && (child->kind() == ExprKind::kConstructor || child->kind() == ExprKind::kOp))
          throw NotSupported("Defunctionalization: " + str(child) + " as a value; put a function around it");
        if (is_callee && function && !function->type_params().empty()) know_types(*call, *function);
        is_callee = false;
      });
      if (const auto* let = as<LetNode>(node); let && let->value()->kind() == ExprKind::kFunction)
        names_.insert(let->value().get(), let->var());
    });
  }

 private:
  bool enter(const Expr&) override { return true; }

  Type here(const Type& type) const { return type ? substitute_types(type, vars_, types_) : type; }

  void know_types(const CallNode& call, const FunctionNode& function) {
    for (size_t i = 0; i < call.args().size(); ++i)
      match_types(declared_type(*function.params()[i]), here(call.args()[i]->checked_type()),
                  function.type_params(), vars_, types_);
    match_types(function.ret_type(), here(call.checked_type()), function.type_params(), vars_, types_);
  }

  // A function with nothing to convert is kept unchanged and typed. Functions never share variables, so
  // renaming is safe.
  Var rewrite_var(const Var& var) override {
    Type type = program_.encoded(here(declared_type(*var)));
    if (!copy_ && vars_.empty() && type == var->annotation()) return var;
    return make_var(var->name(), std::move(type), NodeInfo(var->origins(), var->span()));
  }

  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    switch (original->kind()) {
      case ExprKind::kFunction:
        return original.get() == root_ ? converted_root(rebuilt)
                                       : value(original, as_ref<FunctionNode>(rebuilt));
      case ExprKind::kCall:
        return call(*as<CallNode>(original), rebuilt);
      case ExprKind::kGlobalVar:
        return kept_.contains(original.get()) ? global(as_ref<GlobalVarNode>(original)) : original;
      default:
        return rebuilt;
    }
  }

  Expr converted_root(const Expr& rebuilt) const {
    if (rebuilt.get() == root_ && vars_.empty()) return rebuilt;
    const auto& function = *as<FunctionNode>(rebuilt);
    std::vector<TypeVar> left;
    for (const TypeVar& var : function.type_params())
      if (std::find(vars_.begin(), vars_.end(), var) == vars_.end()) left.push_back(var);
    return make_function(function.params(), function.body(), program_.encoded(here(function.ret_type())),
                         function.attrs(), function.with_type({}), std::move(left));
  }

  // A nested function: data when it is used as a value, itself when it is only called.
  Expr value(const Expr& original, const Function& rebuilt) {
    if (!kept_.contains(original.get())) return Expr(rebuilt);
    bodies_.insert(original.get(), rebuilt);
    const auto& function = *as<FunctionNode>(original);
    Encoded& encoded = program_.of(here(type_of(function)));
    Var self;
    if (const Var* name = names_.find(original.get())) self = as_ref<VarNode>(mapped(Expr(*name)));
    std::vector<Var> captured = free_vars(Expr(rebuilt));
    captured.erase(std::remove(captured.begin(), captured.end(), self), captured.end());
    if (!is_closed(function))
      return program_.make(encoded, captured, rebuilt->params(), rebuilt->body(), self);
    // A kernel is kept as a kernel.
    const Call body =
        make_call(Expr(rebuilt), std::vector<Expr>(rebuilt->params().begin(), rebuilt->params().end()), {},
                  NodeInfo(function.origins()));
    return program_.make(encoded, captured, rebuilt->params(), Expr(body), self);
  }

  // A polymorphic function is instantiated at the call that determines its types.
  Expr global(const GlobalVar& name) const {
    const Function function = program_.module().find(name->name());
    if (!function || !function->type_params().empty()) return Expr(name);
    return program_.as_value(name, function, type_of(*function), {}, {});
  }

  /// The polymorphic module function referenced by `expr`, or null.
  Function open_function(const Expr& expr) const {
    const auto* name = as<GlobalVarNode>(expr);
    const Function function = name ? program_.module().find(name->name()) : Function();
    return function && !function->type_params().empty() ? function : Function();
  }

  Expr call(const CallNode& original, const Expr& rebuilt) {
    const auto& call = *as<CallNode>(rebuilt);
    const NodeInfo info = original.with_type({});
    switch (original.callee()->kind()) {
      case ExprKind::kOp:
        return rebuilt;
      case ExprKind::kConstructor:
        // Nil has a different type when A is replaced.
        if (rebuilt.get() != &original ||
            same_type(program_.encoded(here(original.checked_type())), original.checked_type()))
          return rebuilt;
        return make_call(original.callee(), original.args(), original.attrs(), info);
      case ExprKind::kFunction:
        return reduced(original, call.args());
      case ExprKind::kGlobalVar: {
        const GlobalVar name = as_ref<GlobalVarNode>(original.callee());
        const Function function = program_.module().find(name->name());
        if (!function) return make_call(Expr(name), call.args(), call.attrs(), info);
        std::vector<TypeVar> vars;
        std::vector<Type> types;
        for (size_t i = 0; i < original.args().size(); ++i)
          if (!open_function(original.args()[i]))
            match_types(declared_type(*function->params()[i]), here(original.args()[i]->checked_type()),
                        function->type_params(), vars, types);
        match_types(function->ret_type(), here(original.checked_type()), function->type_params(), vars,
                    types);
        std::vector<Expr> args = call.args();
        for (size_t i = 0; i < args.size(); ++i) {
          const Function open = open_function(original.args()[i]);
          if (!open) continue;
          const Type wanted = substitute_types(declared_type(*function->params()[i]), vars, types);
          std::vector<TypeVar> its_vars;
          std::vector<Type> its_types;
          match_types(type_of(*open), wanted, open->type_params(), its_vars, its_types);
          args[i] =
              program_.as_value(as_ref<GlobalVarNode>(original.args()[i]), open, wanted, its_vars, its_types);
        }
        return make_call(program_.called(name, function, vars, types), std::move(args), call.attrs(), info);
      }
      default:
        break;
    }
    const Type type = here(original.callee()->checked_type());
    BATON_CHECK(as_type<FuncTypeNode>(type), "what is called has the type " + type_text(type));
    std::vector<Expr> args{call.callee()};
    args.insert(args.end(), call.args().begin(), call.args().end());
    return make_call(Expr(program_.of(type).apply), std::move(args), {}, info);
  }

  // fn (x) { body }(arg)  ->  body with arg for x
  Expr reduced(const CallNode& original, const std::vector<Expr>& args) {
    const Function* kept = bodies_.find(original.callee().get());
    const Function function = kept ? *kept : as_ref<FunctionNode>(mapped(original.callee()));
    std::unordered_map<const ExprNode*, Expr> values;
    const std::vector<Var> used = free_vars(function->body());
    for (size_t i = 0; i < args.size(); ++i) {
      values.emplace(function->params()[i].get(), args[i]);
      if (std::find(used.begin(), used.end(), function->params()[i]) == used.end())
        retire_all(args[i], "the function does not use it");
    }
    if (kept || !reduced_.insert(original.callee().get())) {
      for (const Var& var : bound_vars(function->body()))
        values.emplace(var.get(),
                       Expr(make_var(var->name(), var->annotation(), NodeInfo(var->origins(), var->span()))));
    }
    return substitute(function->body(), values);
  }

  DefunctionalizedModule& program_;
  const ExprNode* root_;
  std::vector<TypeVar> vars_;
  std::vector<Type> types_;
  bool copy_;
  PointerSet kept_,
      reduced_;                  // functions and names used as values; functions inlined at a call
  PointerMap<Var> names_;        // the variable each function is bound to
  PointerMap<Function> bodies_;  // converted functions
};

Function instantiated(const Function& function, const IRModule& module) {
  Instantiator instantiator(*module);
  const Expr result = instantiator.run(Expr(function));
  return instantiator.changed() ? as_ref<FunctionNode>(infer_type(result, module.get())) : function;
}

}  // namespace

Function DefunctionalizedModule::convert(const Function& function, const std::vector<TypeVar>& vars,
                                         const std::vector<Type>& types, bool copy) {
  return as_ref<FunctionNode>(Converter(*this, function, vars, types, copy).run(Expr(function)));
}

}  // namespace defunctionalized

Function defunctionalize(const Function& function, const IRModule& module) {
  const Function typed = as_ref<FunctionNode>(infer_type(Expr(function), module.get()));
  if (!typed->type_params().empty()) throw Error("Defunctionalization: the function must not be polymorphic");
  for (const Var& param : typed->params())
    if (defunctionalized::has_function(declared_type(*param)))
      throw Error("Defunctionalization: parameter %" + param->name() +
                  " is a function; only functions inside can be converted");
  if (defunctionalized::has_function(typed->ret_type()))
    throw Error(
        "Defunctionalization: the function returns a function; only functions inside can be converted");
  infer_types(module);
  const Function monomorphic = defunctionalized::instantiated(typed, module);
  for (const auto& [name, type] : module->type_defs())
    for (const Constructor& constructor : type->constructors())
      for (const Type& input : constructor->inputs())
        if (defunctionalized::has_function(input))
          throw NotSupported("Defunctionalization: constructor " + constructor->name() + " holds functions");
  auto functions = module->functions();
  defunctionalized::DefunctionalizedModule program(module);
  const Function result = program.convert(monomorphic, {}, {}, false);
  program.finish();
  functions["main"] = result;  // reserves the place of the result
  separate_variables(*module, functions);
  return result;
}

Pass defunctionalization() {
  return module_pass(
      {1, "Defunctionalization", {}},
      [](IRModule module, const PassContext&) {
        const Function main = module->find("main");
        if (!main) throw Error("Defunctionalization: the module has no @main");
        module->set("main", defunctionalize(main, module));
        return infer_types(std::move(module));
      },
      /*may_retire=*/true);
}

}  // namespace baton
