#include "baton/pass/dataflow_graph.h"

#include "baton/ir/visit.h"
#include "baton/support/error.h"

namespace baton {

DataflowGraph::DataflowGraph(const Expr& root) {
  post_order(root, [this](const Expr& expr) {
    numbers_.insert(expr.get(), static_cast<uint32_t>(nodes_.size()));
    nodes_.push_back(expr);
  });
}

uint32_t DataflowGraph::number_of(const ExprNode* expr) const {
  const uint32_t* number = numbers_.find(expr);
  BATON_CHECK(number, "an expression outside the graph");
  return *number;
}

std::span<const uint32_t> DataflowGraph::users(uint32_t number) const {
  if (first_user_.empty()) {
    std::vector<std::pair<uint32_t, uint32_t>> edges;  // operand, user
    edges.reserve(2 * nodes_.size());
    for (uint32_t user = 0; user < nodes_.size(); ++user)
      for_each_child(*nodes_[user],
                     [&](const Expr& child) { edges.emplace_back(*numbers_.find(child.get()), user); });
    first_user_.resize(nodes_.size() + 1);
    for (const auto& [used, user] : edges) ++first_user_[used + 1];
    for (size_t i = 1; i < first_user_.size(); ++i) first_user_[i] += first_user_[i - 1];
    users_.resize(first_user_.back());
    std::vector<uint32_t> next(first_user_.begin(), first_user_.end() - 1);
    for (const auto& [used, user] : edges) users_[next[used]++] = user;
  }
  return {users_.data() + first_user_[number], users_.data() + first_user_[number + 1]};
}

// Numbers are topological: once a node beyond `over` is reached on another path, `over` cannot post-dominate.
bool DataflowGraph::post_dominated(uint32_t from, uint32_t over) const {
  std::vector<uint32_t> todo{from};
  PointerSet seen;
  while (!todo.empty()) {
    const uint32_t at = todo.back();
    todo.pop_back();
    if (at == over || !seen.insert(nodes_[at].get())) continue;
    if (at > over || users(at).empty()) return false;
    todo.insert(todo.end(), users(at).begin(), users(at).end());
  }
  return true;
}

}  // namespace baton
