#include "baton/ir/visit.h"

#include <vector>

#include "baton/support/pointer_index.h"

namespace baton {

void post_order(const Expr& root, FunctionRef<void(const Expr&)> visit,
                FunctionRef<bool(const Expr&)> enter) {
  if (!root) return;
  // Each node is pushed twice: to expand it and then to visit it. `seen` marks expanded nodes.
  struct Step {
    const Expr* node;
    bool close;
  };
  PointerIndex seen;
  std::vector<Step> stack{{&root, false}};
  while (!stack.empty()) {
    const Step step = stack.back();
    stack.pop_back();
    if (step.close) {
      visit(*step.node);
      continue;
    }
    // A node with a single reference is reached once and need not be entered in `seen`.
    if ((*step.node)->use_count() > 1 && !seen.add(step.node->get()).second) continue;
    stack.push_back({step.node, true});
    if (enter && !enter(*step.node)) continue;
    const ExprNode& node = **step.node;
    // Bound variables are not stored as Exprs in the node, so they have no address to push; they have no
    // children.
    for_each_bound_var(node, [&](const Var& var) {
      if (seen.add(var.get()).second) visit(Expr(var));
    });
    const Children children(node);
    for (size_t i = children.size(); i-- > 0;) stack.push_back({&children[i], false});
  }
}

}  // namespace baton
