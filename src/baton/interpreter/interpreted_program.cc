#include "baton/interpreter/interpreted_program.h"

#include <algorithm>

#include "baton/interpreter/relay_interpreter.h"
#include "baton/ir/analysis/normal_form.h"
#include "baton/ir/extent.h"
#include "baton/ir/variables.h"
#include "baton/ir/visit.h"
#include "baton/pass/rewriter.h"
#include "baton/transform/quantize/legalize.h"
#include "baton/types/infer_type.h"

namespace baton::program {

namespace {

/// Makes kernels and external-compiler regions ordinary functions.
class Opener final : public Rewriter {
  bool enter(const Expr&) override { return true; }
  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    const auto* function = as<FunctionNode>(rebuilt);
    if (!function || function->attrs().empty()) return rebuilt;
    return make_function(function->params(), function->body(), function->ret_type(), {},
                         function->with_type({}), function->type_params());
  }
};

IRModule prepared(const IRModule& given, const BuildContext& context) {
  IRModule module = infer_types(given->copy());
  Opener opener;
  for (const auto& [name, function] : std::map(module->functions()))
    if (const Expr open = opener.run(Expr(function)); open != Expr(function))
      module->replace(name, as_ref<FunctionNode>(open));
  module = infer_types(std::move(module));
  module = (*sequential({make_pass("RemoveUnusedFunctions"), qnn_lowering(), make_pass("SimplifyInference"),
                         make_pass("FoldConstant")}))(module, context);
  return infer_types(to_normal_form(std::move(module), NormalForm::kAll));
}

/// Assigns slots to the variables of a function and to its captured variables.
Code code_of(const FunctionNode& function) {
  Code code;
  code.function = Function(&function);
  const auto place = [&](const VarNode* var) {
    code.slots.insert(var, static_cast<uint32_t>(code.slots.size()));
  };
  for (const Var& param : function.params()) place(param.get());
  for (const Var& var : free_vars(Expr(&function))) {
    place(var.get());
    code.captured.push_back(var);
  }
  std::vector<Expr> open{function.body()};
  while (!open.empty()) {
    const Expr node = std::move(open.back());
    open.pop_back();
    if (const auto* var = as<VarNode>(node)) place(var);
    if (node->kind() == ExprKind::kFunction) continue;
    for_each_child(*node, [&](const Expr& child) { open.push_back(child); });
  }
  return code;
}

std::shared_ptr<const Codes> codes_of(const IRModuleNode& module, Lowering lowering) {
  auto codes = std::make_shared<Codes>();
  codes->lowering = std::move(lowering);
  for (const auto& [name, function] : module.functions()) {
    codes->globals.emplace(name, function.get());
    post_order(Expr(function), [&](const Expr& node) {
      if (const auto* inner = as<FunctionNode>(node)) codes->functions.emplace(inner, code_of(*inner));
    });
  }
  return codes;
}

Dim with_values(Dim dim, const ExtentValues& extents) {
  return replace_extent_vars(dim, [&](Dim var) {
    const auto at =
        std::find_if(extents.begin(), extents.end(), [&](const auto& each) { return each.first == var; });
    return at == extents.end() ? var : Dim(at->second);
  });
}

}  // namespace

void check_argument(const std::string& name, const Type& type, const Value& value, ExtentValues& extents) {
  const auto fail = [&](const std::string& why = {}) {
    throw Error("argument " + name + " is " + describe(value) + ", expected " + type_text(type) + why);
  };
  if (const auto* tensor = as_type<TensorTypeNode>(type)) {
    const auto* given = as_value<TensorValue>(value);
    if (!given || given->array().dtype() != tensor->dtype() || given->array().ndim() != tensor->rank())
      fail();
    for (int i = 0; i < tensor->rank(); ++i) {
      const int64_t extent = given->array().shape()[i];
      const Dim wanted = with_values(tensor->shape()[i], extents);
      if (as_extent_var(wanted))
        extents.emplace_back(wanted, extent);
      else if (!wanted.is_any() && wanted.value() != extent)
        fail(tensor->shape()[i].is_any()
                 ? ", where " + extent_text(tensor->shape()[i]) + " is " + extent_text(wanted)
                 : "");
    }
  } else if (const auto* tuple = as_type<TupleTypeNode>(type)) {
    const auto* given = as_value<TupleValue>(value);
    if (!given || given->fields().size() != tuple->fields().size()) fail();
    for (size_t i = 0; i < tuple->fields().size(); ++i)
      check_argument(name + "." + std::to_string(i), tuple->fields()[i], given->fields()[i], extents);
  } else if (const auto* data = as_type<TypeCallNode>(type)) {
    const auto* given = as_value<DataValue>(value);
    const auto* header = as_type<GlobalTypeVarNode>(data->callee());
    if (!given || (given->constructor() && header && given->constructor()->type_name != header->name()))
      fail();
  } else if (const auto* ref = as_type<RefTypeNode>(type)) {
    const auto* given = as_value<CellValue>(value);
    if (!given) fail();
    check_argument(name + ".value", ref->value(), given->value(), extents);
  } else if (as_type<FuncTypeNode>(type)) {
    if (!as_value<FunctionValue>(value)) fail();
  }
}

InterpretedProgram::InterpretedProgram(const IRModule& module, Lowering lowering,
                                       const BuildContext& context) {
  if (!module->find("main")) throw Error("the module has no function main");
  const IRModule ready = prepared(module, context);
  params_ = ready->find("main")->params();
  codes_ = codes_of(*ready, std::move(lowering));
}

Value InterpretedProgram::run(const std::vector<Value>& args, const BuildContext& context) const {
  if (args.size() != params_.size())
    throw Error("main takes " + std::to_string(params_.size()) + " arguments, " +
                std::to_string(args.size()) + " were given");
  ExtentValues extents;
  for (int round = 0; round < 2; ++round)  // n + 1 may come before n
    for (size_t i = 0; i < args.size(); ++i)
      check_argument(params_[i]->name(), params_[i]->checked_type(), args[i], extents);
  return RelayInterpreter(context).run(*OwnFunction::of_global(codes_, "main"), args);
}

Value call_function(const FunctionValue& function, const std::vector<Value>& args,
                    const BuildContext& context) {
  if (const ForeignFunction* foreign = function.foreign()) return foreign->call(args);
  return RelayInterpreter(context).run(function, args);
}

}  // namespace baton::program
