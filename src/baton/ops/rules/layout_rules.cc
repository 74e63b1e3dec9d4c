#include "baton/ops/rules/layout_rules.h"

#include <algorithm>

#include "baton/ir/inspect.h"
#include "baton/ir/rules/layout_parts.h"

namespace baton {

namespace {

/// The types of all inputs, tuples flattened; empty when one is not known.
std::vector<const TensorTypeNode*> input_types(const CallNode& call) {
  std::vector<const TensorTypeNode*> types;
  for (const Expr& arg : call.args()) {
    const auto* tuple = as_type<TupleTypeNode>(arg->checked_type());
    if (tuple)
      for (const Type& field : tuple->fields()) types.push_back(as_type<TensorTypeNode>(field));
    else
      types.push_back(tensor_type_of(arg));
  }
  return std::ranges::find(types, nullptr) == types.end() ? types : std::vector<const TensorTypeNode*>();
}

Attrs with_field(const CallNode& call, const char* name, const AttrValue& value) {
  return with_field(call.attrs(), call.op()->name, name, value);
}

/// Every input takes the layout of the first changed one that has the result's shape.
std::optional<LayoutPlan> broadcast_plan(const CallNode& call, const LayoutStates& inputs) {
  const auto* result = as_type<TensorTypeNode>(call.checked_type());
  const std::vector<const TensorTypeNode*> types = input_types(call);
  if (!result || types.size() != inputs.size()) return std::nullopt;
  size_t leader = inputs.size();
  for (size_t i = 0; i < inputs.size() && leader == inputs.size(); ++i)
    if (inputs[i].changed() && types[i]->shape() == result->shape()) leader = i;
  if (leader == inputs.size()) return std::nullopt;
  const LayoutState& lead = inputs[leader];
  if (lead.was->rank() != result->rank()) return std::nullopt;
  LayoutPlan plan{LayoutStates(inputs.size()), {lead}, {}};
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].was && inputs[i].was != lead.was) return std::nullopt;  // its axes have other meanings
    if (all_ones(*types[i]) && !inputs[i].changed() && types[i]->rank() <= lead.now->rank()) continue;
    const int rank = types[i]->rank();
    const KnownLayout was = rank < lead.was->rank() ? tail(*lead.was, rank) : lead.was;
    const KnownLayout now = was ? fitted(*lead.now, *was, *types[i]) : nullptr;
    if (!now) return std::nullopt;
    plan.inputs[i] = {was, now};
  }
  return plan;
}

std::optional<LayoutPlan> elementwise_plan(const CallNode&, const LayoutStates& inputs) {
  return LayoutPlan{inputs, {inputs[0]}, {}};
}

std::optional<LayoutPlan> spatial_plan(const CallNode& call, const LayoutStates& inputs) {
  const LayoutState& data = inputs[0];
  if (inputs.size() != 1 || !data.was || data.was->str() != text_attr(call, "layout")) return std::nullopt;
  if (!text_attr(call, "out_layout").empty()) return std::nullopt;
  for (char axis : {'D', 'H', 'W'})
    if (data.now->is_split(axis)) return std::nullopt;
  return LayoutPlan{{data}, {data}, with_field(call, "layout", data.now->str())};
}

}  // namespace

const LayoutRule* layout_rule_of(const OpDef& op) {
  static const LayoutRule elementwise{elementwise_plan}, broadcast{broadcast_plan};
  if (const auto* own = op.rules.get<LayoutRule>()) return own;
  if (op.fuse == Fuse::kElementwise && op.num_inputs == 1) return &elementwise;
  if (op.fuse <= Fuse::kBroadcast && op.num_inputs >= 2 && !op.attrs) return &broadcast;
  return nullptr;
}

LayoutRule spatial_layout_rule() { return {spatial_plan}; }

}  // namespace baton
