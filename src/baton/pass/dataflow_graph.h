#pragma once
// The dataflow graph of an expression: numbered nodes and their users.
#include <cstdint>
#include <span>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/support/pointer_map.h"

namespace baton {

/// The nodes reachable from a root, numbered in post-order, and their users.
class DataflowGraph {
 public:
  explicit DataflowGraph(const Expr& root);
  size_t size() const { return nodes_.size(); }
  const Expr& operator[](uint32_t number) const { return nodes_[number]; }
  /// The number of `expr`, which must be in the graph.
  uint32_t number_of(const ExprNode* expr) const;
  bool contains(const ExprNode* expr) const { return numbers_.contains(expr); }
  /// The numbers of the node's users.
  std::span<const uint32_t> users(uint32_t number) const;
  /// Whether every path from `from` to the root passes through `over`.
  bool post_dominated(uint32_t from, uint32_t over) const;

 private:
  std::vector<Expr> nodes_;
  PointerMap<uint32_t> numbers_;
  mutable std::vector<uint32_t> first_user_, users_;  // built on first use
};

}  // namespace baton
