#include <algorithm>
#include <unordered_map>

#include "baton/codegen/kernel/kernel.h"
#include "baton/ir/extent.h"
#include "baton/ir/extents/kernel_extents.h"
#include "baton/ir/op.h"
#include "baton/ir/visit.h"

namespace baton {
namespace {

/// The block that computes each tensor of a value.
using Producers = std::vector<int>;

class BlockCollector {
 public:
  std::vector<KernelBlock> blocks;

  void visit(const Expr& node) {
    if (const auto* call = as<CallNode>(node)) {
      if (!call->op()) throw NotSupported("a fused function calls something that is no operator");
      KernelBlock block;
      block.call = Call(call);
      for (const Expr& arg : call->args()) {
        const Producers& made = of(arg);
        block.producers.insert(block.producers.end(), made.begin(), made.end());
      }
      producers_[node.get()] =
          Producers(flat_types(call->checked_type()).size(), static_cast<int>(blocks.size()));
      blocks.push_back(std::move(block));
    } else if (const auto* tuple = as<TupleNode>(node)) {
      Producers all;
      for (const Expr& field : tuple->fields()) {
        const Producers& made = of(field);
        all.insert(all.end(), made.begin(), made.end());
      }
      producers_[node.get()] = std::move(all);
    } else if (const auto* item = as<TupleGetItemNode>(node)) {
      const auto* type = as_type<TupleTypeNode>(item->tuple()->checked_type());
      BATON_CHECK(type, "a projection of a value that is no tuple");
      size_t first = 0;
      for (int i = 0; i < item->index(); ++i) first += flat_types(type->fields()[i]).size();
      const size_t count = flat_types(type->fields()[item->index()]).size();
      const Producers& all = of(item->tuple());
      producers_[node.get()] = Producers(all.begin() + first, all.begin() + first + count);
    } else if (as<VarNode>(node) || as<ConstantNode>(node)) {
      producers_[node.get()] = Producers(flat_types(type_of(node)).size(), -1);
    } else if (node->kind() != ExprKind::kOp) {
      throw NotSupported("a fused function holds control flow or a function of its own");
    }
  }

 private:
  const Producers& of(const Expr& node) const { return producers_.at(node.get()); }
  std::unordered_map<const ExprNode*, Producers> producers_;
};

}  // namespace

std::vector<KernelBlock> kernel_blocks(const FunctionNode& function) {
  BlockCollector collector;
  post_order(function.body(), [&](const Expr& node) { collector.visit(node); });
  return std::move(collector.blocks);
}

std::string with_extent_names(std::string text, const FunctionNode& function) {
  const std::vector<Dim> vars = kernel_extents(function);
  for (size_t i = vars.size(); i-- > 0;) {  // "extent12" before "extent1"
    const std::string number = extent_text(numbered_extent(static_cast<int>(i)));
    for (size_t at = 0; (at = text.find(number, at)) != std::string::npos;) {
      const std::string name = extent_text(vars[i]);
      text.replace(at, number.size(), name);
      at += name.size();
    }
  }
  return text;
}

std::string block_name(const std::vector<KernelBlock>& blocks, int block) {
  std::string name = "b" + std::to_string(block) + "_" + blocks.at(block).call->op()->name;
  std::replace(name.begin(), name.end(), '.', '_');  // Func names must not contain dots
  return name;
}

}  // namespace baton
