#include "baton/pass/causes.h"

#include "baton/ir/visit.h"

namespace baton {

OriginSet Causes::own(const Expr& expr) const {
  if (!expr->origins().empty()) return expr->origins();
  std::vector<OriginSet> sets;
  std::vector<const ExprNode*> todo{expr.get()};
  PointerSet seen;
  while (!todo.empty()) {
    const ExprNode* node = todo.back();
    todo.pop_back();
    if (!seen.insert(node)) continue;
    if (!node->origins().empty())
      sets.push_back(node->origins());
    else if (const auto* item = as<TupleGetItemNode>(node))
      todo.push_back(item->tuple().get());
    else if (const auto* tuple = as<TupleNode>(node))
      for (const Expr& field : tuple->fields()) todo.push_back(field.get());
    else if (const Expr* value = bound_.find(node))
      todo.push_back(value->get());
  }
  return sets.empty() ? OriginSet::none() : OriginSet::merge_all(sets);
}

const OriginSet& Causes::everything() {
  if (walked_) return everything_;
  walked_ = true;
  std::vector<OriginSet> sets;
  const auto collect = [&](const Expr& node) { sets.push_back(node->origins()); };
  post_order(root_, collect);
  everything_ = OriginSet::merge_all(sets);
  if (everything_.empty() && module_) {
    for (const auto& [name, function] : module_->functions()) post_order(Expr(function), collect);
    everything_ = OriginSet::merge_all(sets);
  }
  return everything_;
}

OriginSet Causes::of(const Expr& expr) {
  OriginSet causes = own(expr);
  return causes.empty() ? everything() : causes;
}

OriginSet Causes::made_for(const Expr& expr, std::string_view reason) {
  if (const OriginSet causes = own(expr); !causes.empty()) return OriginSet::made_for(causes, reason);
  if (everything().empty()) return OriginSet::none();
  const auto known = for_everything_.find(reason);
  if (known != for_everything_.end()) return known->second;
  return for_everything_.emplace(reason, OriginSet::made_for(everything_, reason)).first->second;
}

}  // namespace baton
