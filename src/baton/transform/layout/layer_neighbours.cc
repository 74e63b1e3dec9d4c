#include "baton/transform/layout/layer_neighbours.h"

#include <ranges>

#include "baton/ir/extent.h"
#include "baton/ir/inspect.h"
#include "baton/ir/op.h"
#include "baton/ir/visit.h"
#include "baton/ops/rules/layout_rules.h"

namespace baton {

namespace {

/// A result whose elements are so many times fewer than those it is made from is cheap to transform.
constexpr int64_t kFewer = 4;

int64_t elements(const ExprNode& node) {
  const auto* tensor = as_type<TensorTypeNode>(node.checked_type());
  if (!tensor) return 0;
  int64_t count = 1;
  for (const int64_t extent : usual_extents(*tensor)) count *= extent;
  return count;
}

bool passes_blocks_on(const ExprNode& node) {
  if (as<TupleNode>(&node) || as<TupleGetItemNode>(&node)) return true;
  const auto* call = as<CallNode>(&node);
  return call && call->op() && layout_rule_of(*call->op());
}

}  // namespace

PointerMap<LayerNeighbours> neighbours_of_layers(const Function& function,
                                                 FunctionRef<bool(const CallNode&)> in_blocks) {
  std::vector<Expr> nodes;
  post_order(Expr(function), [&](const Expr& node) { nodes.push_back(node); });
  PointerSet layers, given, wanted;  // `given`: in blocks; `wanted`: by some reader
  for (const Expr& node : nodes) {
    const auto* call = as<CallNode>(node);
    if (call && call->op() && in_blocks(*call)) {
      layers.insert(call), given.insert(call);
    } else if (passes_blocks_on(*node)) {
      bool any = false;
      for_each_child(*node, [&](const Expr& child) { any = any || given.contains(child.get()); });
      if (any) given.insert(node.get());
    }
  }
  for (const Expr& node : std::views::reverse(nodes)) {
    if (layers.contains(node.get())) {
      wanted.insert(as<CallNode>(node)->args()[0].get());
    } else if (passes_blocks_on(*node)) {
      const int64_t made = elements(*node);
      for_each_child(*node, [&](const Expr& child) {
        if (wanted.contains(node.get()) || (made > 0 && made * kFewer <= elements(*child)))
          wanted.insert(child.get());
      });
    }
  }
  PointerMap<LayerNeighbours> all;
  for (const Expr& node : nodes)
    if (layers.contains(node.get()))
      all.insert(node.get(), LayerNeighbours{given.contains(as<CallNode>(node)->args()[0].get()),
                                             wanted.contains(node.get())});
  return all;
}

}  // namespace baton
