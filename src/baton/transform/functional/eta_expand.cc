// Eta expansion of module functions and constructors used as values:
//   @f  ->  fn (%eta_expand_param: T) -> R { @f(%eta_expand_param) }      (expand_global_var)
//   Some  ->  fn [A](%eta_expand_param: A) -> Maybe[A] { Some(%eta_expand_param) }      (expand_constructor)
// With expand_global_var, callees are expanded too; called constructors are not. One lambda is shared by all
// uses of a name in a function.

#include "baton/transform/functional/eta_expand.h"

#include "baton/ir/adt.h"
#include "baton/ir/functions.h"
#include "baton/ir/op.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"

namespace baton {

namespace {

class EtaExpander final : public Rewriter {
 public:
  EtaExpander(const IRModuleNode& module, bool constructors, bool globals)
      : module_(module), globals_(globals) {
    if (!constructors) return;
    for (const auto& [name, type] : module.type_defs())
      for (const Constructor& constructor : type->constructors())
        map(Expr(constructor), expand(*type, constructor));
  }

 private:
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    if (const auto* global = as<GlobalVarNode>(original)) {
      const Function function = globals_ ? module_.find(global->name()) : Function();
      return function ? expand(original, *function) : original;
    }
    const auto* call = as<CallNode>(original);
    if (!call || rebuilt == original) return rebuilt;
    const auto& args = as<CallNode>(rebuilt)->args();
    if (call->callee()->kind() == ExprKind::kConstructor)
      return args == call->args()
                 ? original
                 : Expr(make_call(call->callee(), args, call->attrs(), original->with_type({})));
    // The kernel call moves into the lambda; the outer call is not of a kernel.
    const auto* global = as<GlobalVarNode>(call->callee());
    const Function kernel = globals_ && global ? module_.find(global->name()) : Function();
    if (kernel && kernel->is_primitive())
      return make_call(as<CallNode>(rebuilt)->callee(), args, call->attrs(),
                       NodeInfo(OriginSet::none(), original->span()));
    return rebuilt;
  }

  static Expr expand(const TypeDataNode& type, const Constructor& constructor) {
    const OriginScope scope(OriginSet::none());
    std::vector<TypeVar> type_params;
    std::vector<Type> values;
    for (const TypeVar& var : type.type_vars()) {
      type_params.push_back(type_var(var->name(), var->var_kind()));
      values.emplace_back(type_params.back());
    }
    std::vector<Type> inputs;
    for (const Type& input : constructor->inputs())
      inputs.push_back(substitute_types(input, type.type_vars(), values));
    return lambda(Expr(constructor), inputs, substitute_types(type.self_type(), type.type_vars(), values), {},
                  type_params);
  }

  static Expr expand(const Expr& global, const FunctionNode& function) {
    const OriginScope scope(function.is_primitive() ? function.origins() : OriginSet::none());
    std::vector<TypeVar> type_params;
    std::vector<Type> values;
    for (const TypeVar& var : function.type_params()) {
      type_params.push_back(type_var(var->name(), var->var_kind()));
      values.emplace_back(type_params.back());
    }
    const auto renamed = [&](const Type& type) {
      return type ? substitute_types(type, function.type_params(), values) : type;
    };
    std::vector<Type> inputs;
    for (const Var& param : function.params()) inputs.push_back(renamed(declared_type(*param)));
    return lambda(global, inputs, renamed(function.ret_type()), function.attrs(), type_params);
  }

  static Expr lambda(const Expr& callee, const std::vector<Type>& inputs, const Type& result,
                     const FunctionAttrs& attrs, const std::vector<TypeVar>& type_params) {
    std::vector<Var> params;
    for (const Type& input : inputs)
      params.push_back(make_var("eta_expand_param", input, NodeInfo(OriginSet::none())));
    const Call body = call_expr(callee, {params.begin(), params.end()});
    return make_function(std::move(params), body, result, attrs, NodeInfo(OriginSet::none()), type_params);
  }

  const IRModuleNode& module_;
  bool globals_;
};

}  // namespace

Function eta_expand_constructors(const Function& function, const IRModuleNode& module) {
  return as_ref<FunctionNode>(EtaExpander(module, true, false).run(Expr(function)));
}

Pass eta_expand(const PassArgs& args) {
  PassArgReader reader("EtaExpand", args);
  const bool constructors = reader.flag("expand_constructor", false);
  const bool globals = reader.flag("expand_global_var", false);
  reader.finish();
  return module_pass({1, "EtaExpand", {}}, [=](IRModule module, const PassContext&) {
    const IRModule before = module->copy();
    for (const auto& [name, function] : before->functions()) {
      EtaExpander expander(*before, constructors, globals);  // functions never share variables
      const Function result = as_ref<FunctionNode>(expander.run(Expr(function)));
      if (result != function) module->replace(name, result);
    }
    return module;
  });
}

}  // namespace baton
