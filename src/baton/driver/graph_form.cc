#include "baton/driver/graph_form.h"

#include <algorithm>
#include <set>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"

namespace baton {

namespace {

// A function that is neither a kernel nor for an external compiler.
bool is_plain_function(const Expr& expr) {
  const auto* function = as<FunctionNode>(expr);
  return function && !function->is_primitive() && !function->attr("Compiler") && !function->attr("Composite");
}

}  // namespace

namespace {

/// Looks through functions that are inlined, once each. `within`: those around the body.
void add_form(const IRModuleNode& module, const Expr& body, std::vector<const FunctionNode*>& within,
              std::set<const FunctionNode*>& seen, MainForm& form) {
  post_order(body, [&](const Expr& node) {
    form.functions |= is_plain_function(node);
    switch (node->kind()) {
      case ExprKind::kIf:
      case ExprKind::kMatch:
      case ExprKind::kRefCreate:
      case ExprKind::kRefRead:
      case ExprKind::kRefWrite:
        form.control = true;
        break;
      case ExprKind::kCall: {  // a module function, or a recursion; constructors imply a kMatch
        const auto* global = as<GlobalVarNode>(static_cast<const CallNode&>(*node).callee());
        const Function called = global ? module.find(global->name()) : Function();
        if (!global || (called && called->attr("Compiler"))) break;
        const bool recurses = std::ranges::count(within, called.get()) > 0;
        if (!called || !called->attr("Inline") || recurses) {
          form.control = true;
          break;
        }
        if (!seen.insert(called.get()).second) break;
        within.push_back(called.get());
        add_form(module, called->body(), within, seen, form);
        within.pop_back();
        break;
      }
      default:
        break;
    }
  });
}

}  // namespace

MainForm form_of_main(const IRModuleNode& module) {
  MainForm form;
  std::vector<const FunctionNode*> within;
  std::set<const FunctionNode*> seen;
  add_form(module, module.find("main")->body(), within, seen, form);
  return form;
}

IRModule in_graph_form(const IRModule& module, const BuildContext& context) {
  if (!module->find("main")) return module;
  const MainForm form = form_of_main(*module);
  if (!form.functions || form.control) return module;
  IRModule graph = module;
  // Run individually, not as a sequence, which would skip passes above the context's level.
  for (const char* pass :
       {"PartialEvaluate", "InferType", "DeadCodeElimination", "InferType", "ToGraphNormalForm", "InferType"})
    graph = (*make_pass(pass))(graph, context);
  return graph;
}

}  // namespace baton
