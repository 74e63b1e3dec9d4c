#include "baton/transform/extract.h"

#include "baton/ir/structural.h"
#include "baton/ir/visit.h"
#include "baton/pass/rewriter.h"
#include "baton/support/error.h"

namespace baton {

namespace {

Function main_of(const IRModuleNode& module, const char* who) {
  Function main = module.find("main");
  if (!main) throw UsageError(std::string(who) + ": the module has no function main");
  return main;
}

bool counts(const ExprNode& node) {
  return node.kind() == ExprKind::kCall || node.kind() == ExprKind::kTuple ||
         node.kind() == ExprKind::kTupleGetItem;
}

}  // namespace

IRModule extract_value(const IRModuleNode& module, int64_t index) {
  Expr found;
  int64_t count = 0;
  post_order(Expr(main_of(module, "extract_intermdeiate_expr")), [&](const Expr& node) {
    if (counts(*node) && count++ == index) found = node;
  });
  if (!found) {
    throw UsageError("extract_intermdeiate_expr: main has " + std::to_string(count) +
                     " values, numbered from 0; there is no " + std::to_string(index));
  }
  return module_from_expr(found);
}

std::map<std::string, Function> primitive_functions(const IRModuleNode& module) {
  std::map<std::string, Function> found;
  for (const auto& [name, function] : module.functions()) {
    post_order(Expr(function), [&](const Expr& node) {
      if (Function primitive = as_ref<FunctionNode>(node); primitive && primitive->is_primitive())
        found.emplace(std::to_string(structural_hash(node)), std::move(primitive));
    });
  }
  return found;
}

Calibration calibration_of(const IRModuleNode& module) {
  Calibration result;
  const Function main = main_of(module, "get_calibration_data");
  std::vector<Expr> fields;
  post_order(Expr(main), [&](const Expr& node) {
    const auto* call = as<CallNode>(node);
    const auto* name = call ? as<GlobalVarNode>(call->callee()) : nullptr;
    const Function callee = name ? module.find(name->name()) : Function();
    if (!callee || !callee->attr("Compiler")) return;
    Calibration::Values values{name->name(), static_cast<int64_t>(fields.size()),
                               static_cast<int64_t>(call->args().size()), 1};
    fields.insert(fields.end(), call->args().begin(), call->args().end());
    if (const auto* tuple = as<TupleNode>(callee->body())) {
      values.outputs = static_cast<int64_t>(tuple->fields().size());
      for (int64_t i = 0; i < values.outputs; ++i)
        fields.push_back(make_tuple_get_item(node, static_cast<int>(i), NodeInfo(OriginSet::none())));
    } else {
      fields.push_back(node);
    }
    result.values.push_back(std::move(values));
  });
  result.module = make_module();
  for (const auto& [name, type] : module.type_defs()) result.module->set_type(type);
  for (const auto& [name, function] : module.functions()) {
    FunctionAttrs attrs;  // ordinary callable and inlinable: without Compiler and related attributes
    for (const auto& [key, value] : function->attrs())
      if (key != "Compiler" && key != "global_symbol" && key != "Primitive" && key != "Inline")
        attrs.emplace_back(key, value);
    const Function plain = make_function(function->params(), function->body(), function->ret_type(),
                                         std::move(attrs), function->with_type({}), function->type_params());
    result.module->set(name, function->attr("Compiler") ? with_attr(plain, "Inline", int64_t{1}) : plain);
  }
  result.module->set(
      "main", make_function(main->params(), make_tuple(std::move(fields), NodeInfo(OriginSet::none())), {},
                            main->attrs(), main->with_type({}), main->type_params()));
  return result;
}

}  // namespace baton
