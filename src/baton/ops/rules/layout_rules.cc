#include "baton/ops/rules/layout_rules.h"

#include <algorithm>

#include "baton/ir/inspect.h"
#include "baton/ir/rules/layout_flow.h"
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
  if (call.attrs()->schema().find("out_layout") && !text_attr(call, "out_layout").empty())
    return std::nullopt;
  for (char axis : {'D', 'H', 'W'})
    if (data.now->is_split(axis)) return std::nullopt;
  return LayoutPlan{{data}, {data}, with_field(call, "layout", data.now->str())};
}

std::optional<LayoutPlan> depth_to_space_plan(const CallNode& call, const LayoutStates& inputs) {
  const auto* result = as_type<TensorTypeNode>(call.checked_type());
  if (text_attr(call, "mode") != "DCR" || !result || !inputs[0].changed() || inputs[0].was->str() != "NCHW")
    return std::nullopt;
  const Dim channels = result->shape()[1];
  if (channels.is_any() || channels.value() % inputs[0].now->factor('C') != 0) return std::nullopt;
  return spatial_plan(call, inputs);
}

/// `layout` concatenated along its axis `letter`: every part must consist of whole blocks.
bool joins_in_blocks(const std::vector<const TensorTypeNode*>& parts, const Layout& layout, int axis,
                     char letter) {
  return std::ranges::all_of(parts, [&](const TensorTypeNode* part) {
    const Dim extent = part->shape()[static_cast<size_t>(axis)];
    return !extent.is_any() && extent.value() % layout.factor(letter) == 0;
  });
}

int64_t elements_of(const TensorTypeNode& type) {
  int64_t count = 1;
  for (const Dim& extent : type.shape()) count *= extent.is_any() ? 1 : extent.value();
  return count;
}

/// The parts are joined in the layout into which the fewest elements must be brought; on a tie in a packed
/// one, since that is what readers of a packed tensor's neighbours want.
std::optional<LayoutPlan> concatenate_plan(const CallNode& call, const LayoutStates& inputs) {
  const std::vector<const TensorTypeNode*> types = input_types(call);
  const auto changed = std::ranges::find_if(inputs, [](const LayoutState& state) { return state.changed(); });
  if (types.size() != inputs.size() || changed == inputs.end()) return std::nullopt;
  const KnownLayout was = changed->was;
  const int rank = types[0]->rank();
  for (const LayoutState& state : inputs)
    if (state.was && state.was != was) return std::nullopt;  // its axes have other meanings
  if (was->rank() != rank) return std::nullopt;
  const int axis = front_axis(int_attr(call, "axis"), rank);
  const char letter = was->axes()[static_cast<size_t>(axis)].letter;
  const auto elements_not_in = [&](KnownLayout layout) {
    int64_t count = 0;
    for (size_t i = 0; i < inputs.size(); ++i)
      if ((inputs[i].now ? inputs[i].now : was) != layout) count += elements_of(*types[i]);
    return count;
  };
  KnownLayout best = was;
  int64_t least = elements_not_in(was);
  for (const LayoutState& state : inputs) {
    if (!state.changed() || !joins_in_blocks(types, *state.now, axis, letter)) continue;
    const int64_t count = elements_not_in(state.now);
    if (count < least || (count == least && best == was)) best = state.now, least = count;
  }
  if (best == was) return std::nullopt;
  const LayoutState joined{was, best};
  return LayoutPlan{
      LayoutStates(inputs.size(), joined), {joined}, with_field(call, "axis", best->find(letter))};
}

/// The types of all results, tuples flattened; empty when one is not known.
std::vector<const TensorTypeNode*> result_types(const CallNode& call) {
  std::vector<const TensorTypeNode*> types;
  if (const auto* tuple = as_type<TupleTypeNode>(call.checked_type()))
    for (const Type& field : tuple->fields()) types.push_back(as_type<TensorTypeNode>(field));
  else
    types.push_back(as_type<TensorTypeNode>(call.checked_type()));
  return std::ranges::find(types, nullptr) == types.end() ? types : std::vector<const TensorTypeNode*>();
}

/// Whether no block is padded: positions along an axis are then positions of blocks.
bool has_whole_blocks(const LayoutState& state, const TensorTypeNode& type) {
  for (const LayoutAxis& axis : state.now->axes()) {
    const int at = state.was->find(axis.letter);
    if (axis.is_primal() || state.was->rank() != type.rank() || at < 0) continue;
    const Dim extent = type.shape()[static_cast<size_t>(at)];
    if (extent.is_any() || extent.value() % state.now->factor(axis.letter) != 0) return false;
  }
  return true;
}

/// What the operator's LayoutFlowRule does with the layout that the data has now; nullopt when it would have
/// the data in another one.
std::optional<LayoutPlan> flow_plan(const CallNode& call, const LayoutStates& inputs) {
  const auto* flow = call.op()->rules.get<LayoutFlowRule>();
  const std::vector<const TensorTypeNode*> types = input_types(call), results = result_types(call);
  if (!flow || !inputs[0].changed() || types.size() != inputs.size() || results.empty()) return std::nullopt;
  LayoutQuery query{*call.op(), call.attrs(), types, results, {}, {}};
  for (const LayoutState& input : inputs) query.was.push_back(input.was);
  if (!has_whole_blocks(inputs[0], *types[0])) return std::nullopt;
  const auto before = flow->infer(query);
  if (!before || before->inputs.size() != inputs.size() || before->inputs[0] != inputs[0].was)
    return std::nullopt;
  query.was = before->inputs;
  for (size_t i = 0; i < inputs.size(); ++i)
    query.now.push_back(inputs[i].now ? inputs[i].now : before->inputs[i]);
  auto after = flow->infer(query);
  if (!after || after->inputs.size() != inputs.size() || after->inputs[0] != inputs[0].now ||
      before->outputs.size() != after->outputs.size())
    return std::nullopt;
  LayoutPlan plan;
  for (size_t i = 0; i < inputs.size(); ++i) plan.inputs.push_back({before->inputs[i], after->inputs[i]});
  for (size_t i = 0; i < after->outputs.size(); ++i)
    plan.outputs.push_back({before->outputs[i], after->outputs[i]});
  plan.attrs = std::move(after->attrs);
  return plan;
}

/// Reductions over axes that are not split: blocks of channels stay vectors.
std::optional<LayoutPlan> reduce_plan(const CallNode& call, const LayoutStates& inputs) {
  auto plan = flow_plan(call, inputs);
  if (!plan || !plan->outputs[0].was || !plan->outputs[0].now) return std::nullopt;
  for (const LayoutAxis& axis : inputs[0].now->axes())
    if (!axis.is_primal() && !plan->outputs[0].now->is_split(axis.letter)) return std::nullopt;
  return plan;
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
LayoutRule depth_to_space_layout_rule() { return {depth_to_space_plan}; }
LayoutRule concatenate_layout_rule() { return {concatenate_plan}; }
LayoutRule reduce_layout_rule() { return {reduce_plan}; }
LayoutRule flow_layout_rule() { return {flow_plan}; }

}  // namespace baton
