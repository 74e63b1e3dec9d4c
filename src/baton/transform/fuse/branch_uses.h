#pragma once
// What the search for parallel branches asks of a program: who uses a value, and where it can be computed.
#include <compare>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/support/pointer_map.h"

namespace baton {

class BranchUses {
 public:
  explicit BranchUses(const Expr& root);

  /// All nodes, operands before their users.
  const std::vector<Expr>& order() const { return order_; }
  /// The depth of a node above the leaves.
  int level(const Expr& node) const { return *levels_.find(node.get()); }
  /// The single call that reads `node`; null when there are several. Others, such as tuples, may read it too.
  Ref<const CallNode> only_reader(const ExprNode& node) const;

  /// The innermost region that encloses all uses of `node`: the program, the body of a function, a branch of
  /// an `if`, a clause of a match.
  uint32_t region(const ExprNode& node) const { return *region_.find(&node); }

  /// Where the variables that a value depends on are bound: how deep in regions, and by the how manieth let
  /// there.
  struct Binding {
    uint32_t depth = 0, let = 0;
    auto operator<=>(const Binding&) const = default;
  };
  /// The innermost binding that `node` depends on. Of two nodes that are used in one region, the one with the
  /// lesser binding can be computed wherever the other one can.
  Binding bound_at(const Expr& node) const;

 private:
  struct Region {
    uint32_t parent, depth;
  };
  void enter(const ExprNode& node);
  uint32_t open(uint32_t parent);
  void use(const Expr& value, uint32_t region);
  void add_node(const Expr& node);

  std::vector<Expr> order_;
  std::vector<Region> regions_;
  uint32_t lets_ = 0;
  PointerMap<uint32_t> region_;
  PointerMap<Binding> bound_;  // those that depend on none are left out
  PointerMap<int> count_, levels_;
  PointerMap<Ref<const CallNode>> reader_;
};

}  // namespace baton
