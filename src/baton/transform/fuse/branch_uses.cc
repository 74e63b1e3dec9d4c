#include "baton/transform/fuse/branch_uses.h"

#include <algorithm>

#include "baton/ir/visit.h"

namespace baton {

BranchUses::BranchUses(const Expr& root) {
  post_order(root, [&](const Expr& node) { order_.push_back(node); });
  regions_.push_back({0, 0});
  region_[root.get()] = 0;
  // Users before their operands: the region of a node is known once all its users were entered.
  for (auto node = order_.rbegin(); node != order_.rend(); ++node) enter(**node);
  for (const Expr& node : order_) add_node(node);
}

void BranchUses::enter(const ExprNode& node) {
  if (is_leaf(node.kind())) return;  // a variable that is bound, but not used, has no region
  const uint32_t here = region(node);
  const auto bind = [&](const Var& var, uint32_t region, uint32_t let) {
    bound_[var.get()] = Binding{regions_[region].depth, let};
  };
  if (const auto* function = as<FunctionNode>(&node)) {
    const uint32_t body = open(here);
    for (const Var& param : function->params()) bind(param, body, 0);
    use(function->body(), body);
  } else if (const auto* branch = as<IfNode>(&node)) {
    use(branch->condition(), here);
    use(branch->then(), open(here));
    use(branch->otherwise(), open(here));
  } else if (const auto* match = as<MatchNode>(&node)) {
    use(match->data(), here);
    for (const Clause& clause : match->clauses()) {
      const uint32_t body = open(here);
      for (const Var& var : pattern_vars(clause.pattern)) bind(var, body, 0);
      use(clause.body, body);
    }
  } else {
    // An outer let comes before those in its body, so its number is the lesser one.
    if (const auto* let = as<LetNode>(&node)) bind(let->var(), here, ++lets_);
    for (const Expr& child : Children(node)) use(child, here);
  }
}

uint32_t BranchUses::open(uint32_t parent) {
  regions_.push_back({parent, regions_[parent].depth + 1});
  return static_cast<uint32_t>(regions_.size() - 1);
}

void BranchUses::use(const Expr& value, uint32_t region) {
  const uint32_t* known = region_.find(value.get());
  uint32_t a = known ? *known : region, b = region;
  while (a != b) {
    if (regions_[a].depth < regions_[b].depth) std::swap(a, b);
    a = regions_[a].parent;
  }
  region_[value.get()] = a;
}

void BranchUses::add_node(const Expr& node) {
  const auto call = as_ref<CallNode>(node);
  int level = 0;
  Binding innermost;
  for_each_child(*node, [&](const Expr& child) {
    if (call) {
      ++count_[child.get()];
      reader_.insert(child.get(), call);
    }
    level = std::max(level, this->level(child) + 1);
    innermost = std::max(innermost, bound_at(child));
  });
  levels_.insert(node.get(), level);
  if (innermost != Binding() && node->kind() != ExprKind::kVar) bound_.insert(node.get(), innermost);
}

Ref<const CallNode> BranchUses::only_reader(const ExprNode& node) const {
  const int* count = count_.find(&node);
  const auto* reader = reader_.find(&node);
  return count && *count == 1 && reader ? *reader : Ref<const CallNode>();
}

BranchUses::Binding BranchUses::bound_at(const Expr& node) const {
  const Binding* binding = bound_.find(node.get());
  return binding ? *binding : Binding();
}

}  // namespace baton
