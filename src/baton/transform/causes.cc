#include "baton/transform/causes.h"

#include "baton/ir/visit.h"

namespace baton {

OriginSet Causes::of(const Expr& expr) {
  if (!expr->origins().empty()) return expr->origins();
  std::vector<OriginSet> sets;
  std::vector<const ExprNode*> todo{expr.get()};
  PointerSet seen;
  while (!todo.empty()) {
    const ExprNode* node = todo.back();
    todo.pop_back();
    if (!seen.insert(node)) continue;
    if (!node->origins().empty()) sets.push_back(node->origins());
    else if (const auto* item = as<TupleGetItemNode>(node)) todo.push_back(item->tuple().get());
    else if (const auto* tuple = as<TupleNode>(node))
      for (const Expr& field : tuple->fields()) todo.push_back(field.get());
    else if (const Expr* value = bound_.find(node)) todo.push_back(value->get());
  }
  if (!sets.empty()) return OriginSet::merge_all(sets);
  if (!walked_) {
    walked_ = true;
    const auto collect = [&](const Expr& node) { sets.push_back(node->origins()); };
    post_order(root_, collect);
    everything_ = OriginSet::merge_all(sets);
    if (everything_.empty() && module_) {
      for (const auto& [name, function] : module_->functions()) post_order(Expr(function), collect);
      everything_ = OriginSet::merge_all(sets);
    }
  }
  return everything_;
}

OriginSet Causes::made_for(const Expr& expr, std::string_view reason) {
  const OriginSet causes = of(expr);
  return causes.empty() ? OriginSet::none() : OriginSet::made_for(causes, reason);
}

}  // namespace baton
