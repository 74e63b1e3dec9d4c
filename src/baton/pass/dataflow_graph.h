#pragma once
// An expression as a graph: its nodes by number, and who uses each.
#include <cstdint>
#include <span>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/support/pointer_map.h"

namespace baton {

/// The nodes under one root in post-order, numbered, and who uses each.
class DataflowGraph {
 public:
  explicit DataflowGraph(const Expr& root);
  size_t size() const { return nodes_.size(); }
  const Expr& operator[](uint32_t number) const { return nodes_[number]; }
  /// Its number; it must be in the graph.
  uint32_t number_of(const ExprNode* expr) const;
  bool contains(const ExprNode* expr) const { return numbers_.contains(expr); }
  /// The numbers of its users.
  std::span<const uint32_t> users(uint32_t number) const;
  /// Whether every way from `from` to the root leads over `over`.
  bool post_dominated(uint32_t from, uint32_t over) const;

 private:
  std::vector<Expr> nodes_;
  PointerMap<uint32_t> numbers_;
  mutable std::vector<uint32_t> first_user_, users_;  // made when first asked for
};

}  // namespace baton
