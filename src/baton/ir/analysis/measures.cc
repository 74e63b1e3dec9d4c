#include "baton/ir/analysis/measures.h"

#include <algorithm>

#include "baton/ir/inspect.h"
#include "baton/ir/op_names.h"
#include "baton/ir/rules/cost.h"
#include "baton/ir/visit.h"
#include "baton/support/pointer_map.h"

namespace baton {

int64_t multiply_accumulates(const Expr& root, const std::map<std::string, MacCount>& given) {
  int64_t sum = 0;
  post_order(root, [&](const Expr& node) {
    const auto call = as_ref<CallNode>(node);
    if (!call || !call->op()) return;
    if (const auto own = given.find(call->op()->name); own != given.end()) {
      sum += own->second(call);
      return;
    }
    if (const auto* macs = call->op()->rules.get<MacRule>()) sum += macs->count(*call);
  });
  return sum;
}

std::map<std::string, int64_t> fake_quantized_frequencies(const IRModuleNode& module) {
  std::map<std::string, int64_t> counts;
  // The calls of the quantised region that ends in `last`; empty when the region has other inputs, or only
  // constant ones.
  const auto region = [](const Expr& last) -> std::vector<const CallNode*> {
    std::vector<const CallNode*> calls;
    bool quantized = false;
    PointerSet seen;
    std::vector<const ExprNode*> todo{last.get()};
    while (!todo.empty()) {
      const ExprNode* node = todo.back();
      todo.pop_back();
      if (!seen.insert(node) || node->kind() == ExprKind::kConstant) continue;
      if (const auto* call = as<CallNode>(node)) {
        if (!call->op() || call->op()->name == "qnn.quantize") return {};
        if (call->op()->name == "qnn.dequantize") {
          quantized = true;
          continue;
        }
        if (call->args().empty()) return {};
        calls.push_back(call);
        for (const Expr& arg : call->args()) todo.push_back(arg.get());
      } else if (const auto* tuple = as<TupleNode>(node)) {
        for (const Expr& field : tuple->fields()) todo.push_back(field.get());
      } else if (const auto* item = as<TupleGetItemNode>(node)) {
        todo.push_back(item->tuple().get());
      } else {
        return {};
      }
    }
    return quantized ? calls : std::vector<const CallNode*>();
  };
  PointerSet counted;
  for (const auto& [name, function] : module.functions()) {
    post_order(Expr(function), [&](const Expr& node) {
      const CallNode* quantize = call_of(node, "qnn.quantize");
      if (!quantize) return;
      for (const CallNode* call : region(quantize->args()[0]))
        if (counted.insert(call)) ++counts[call->op()->name];
    });
  }
  return counts;
}

int64_t count_layers(const Expr& root, const std::set<std::string>& operators) {
  PointerMap<int64_t> layers;
  post_order(root, [&](const Expr& node) {
    int64_t deepest = 0;
    for_each_child(*node, [&](const Expr& child) {
      if (const int64_t* below = layers.find(child.get())) deepest = std::max(deepest, *below);
    });
    const auto* call = as<CallNode>(node);
    layers.insert(node.get(), deepest + (call && call->op() && operators.count(call->op()->name) ? 1 : 0));
  });
  return *layers.find(root.get());
}

std::vector<std::string> transposed_dense_weights(const Expr& root) {
  std::vector<std::string> names;
  post_order(root, [&](const Expr& node) {
    const CallNode* dense = call_of(node, op_names::kDense);
    const CallNode* transpose = dense ? call_of(dense->args()[1], "transpose") : nullptr;
    const auto* weight = transpose ? as<VarNode>(transpose->args()[0]) : nullptr;
    if (weight && std::find(names.begin(), names.end(), weight->name()) == names.end())
      names.push_back(weight->name());
  });
  return names;
}

}  // namespace baton
