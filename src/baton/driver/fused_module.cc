#include "baton/driver/fused_module.h"

#include <map>
#include <unordered_set>

#include "baton/ir/op.h"
#include "baton/pass/rewriter.h"
#include "baton/transform/merge_origins.h"
#include "baton/types/infer_type.h"

namespace baton {

IRModule fused_module(const IRModule& optimized, const GraphPlan& plan) {
  const Function main = optimized->find("main");
  IRModule fused = optimized->copy();
  for (const auto& [name, function] : optimized->functions())
    if (name != "main") fused->remove(name);
  // Per kernel: the distinct functions called in main, as literals or by name.
  std::map<int, std::vector<Expr>> calls;
  std::unordered_set<const ExprNode*> seen;
  std::unordered_map<const ExprNode*, Expr> names;
  const auto call = [&](const ExprNode* callee, const PlannedNode& node) {
    names.emplace(callee, Expr(fused->global_var(plan.kernels[static_cast<size_t>(node.kernel)].func_name)));
    if (seen.insert(node.function.get()).second) calls[node.kernel].push_back(Expr(node.function));
  };
  for (const PlannedNode& node : plan.nodes)
    if (node.function) call(node.function.get(), node);
  std::unordered_map<const FunctionNode*, const PlannedNode*> callers;
  for (const PlannedNode& node : plan.nodes)
    if (node.function) callers.emplace(node.function.get(), &node);
  for (const auto& [name, function] : optimized->functions())
    if (const auto caller = callers.find(function.get()); caller != callers.end())
      call(optimized->global_var(name).get(), *caller->second);
  for (const auto& [kernel, functions] : calls) {
    const Expr merged = functions.size() == 1 ? functions[0] : merge_origins(functions[0], functions);
    fused->set(plan.kernels[static_cast<size_t>(kernel)].func_name, as_ref<FunctionNode>(merged));
  }
  fused->replace("main", as_ref<FunctionNode>(substitute(Expr(main), names)));
  return infer_types(fused);
}

}  // namespace baton
