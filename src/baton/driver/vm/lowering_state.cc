#include "baton/driver/vm/lowering_state.h"

#include "baton/ir/inspect.h"
#include "baton/ir/visit.h"

namespace baton::vm {

int32_t LoweringState::constant(const NDArray& value, const OriginSet& origins) {
  const auto [at, fresh] = constants.try_emplace(value.data(), 0);
  NamedArrays& all = out.program->constants;
  if (!fresh && all[static_cast<size_t>(at->second)].second.same_as(value)) return at->second;
  at->second = static_cast<int32_t>(all.size());
  all.emplace_back("p" + std::to_string(all.size()), value);
  out.plan.params.push_back(all.back());
  PlanNode node;
  node.name = all.back().first;
  node.first_entry = static_cast<EntryId>(graph->entries.size());
  constant_entries.push_back(node.first_entry);
  PlanEntry& entry = graph->entries.emplace_back();
  entry.shape = value.shape();
  entry.dtype = value.dtype();
  graph->arg_nodes.push_back(static_cast<uint32_t>(graph->nodes.size()));
  graph->nodes.push_back(std::move(node));
  out.plan.nodes.push_back({-1, {}, origins});
  return at->second;
}

void LoweringState::add_argument(LoweredValue& value) {
  PlanNode node;
  node.name = node_names.make(value.name.empty() ? "value" : value.name);
  node.first_entry = static_cast<EntryId>(graph->entries.size());
  value.entry = node.first_entry;
  PlanEntry& entry = graph->entries.emplace_back();
  entry.shape = {0};
  entry.dtype = as_type<TensorTypeNode>(value.type)->dtype();
  entry.device_type = value.device;
  graph->nodes.push_back(std::move(node));
  out.plan.nodes.push_back({-1, {}, OriginSet::none()});
}

uint32_t LoweringState::add_node(const Function& function, const OriginSet& origins, int kernel,
                                 const std::string& func_name, const std::vector<LoweredRef>& args,
                                 const LoweredRef& result) {
  PlanNode node;
  node.kind = PlanNode::Kind::kKernel;
  node.func_name = func_name;
  node.name = node_names.make(func_name);
  set_kernel_attrs(node, function);
  node.first_entry = static_cast<EntryId>(graph->entries.size());
  std::vector<LoweredRef> operands, results;
  for (const LoweredRef& arg : args) flatten(arg, operands);
  for (const LoweredRef& operand : operands) {
    if (operand->kind == LoweredValue::Kind::kConstant)
      node.inputs.push_back(constant_entries[static_cast<size_t>(operand->where)]);
    else if (operand->entry)
      node.inputs.push_back(*operand->entry);
  }
  flatten(result, results);
  node.num_outputs = static_cast<uint32_t>(results.size());
  for (const LoweredRef& each : results) {
    each->entry = static_cast<EntryId>(graph->entries.size());
    PlanEntry& entry = graph->entries.emplace_back();
    entry.device_type = each->device;
    const auto* tensor = as_type<TensorTypeNode>(each->type);
    if (!tensor) continue;
    entry.dtype = tensor->dtype();
    // What is not known before it runs has no bytes.
    if (tensor->is_static())
      entry.shape = tensor->extents();
    else
      entry.shape = {0};
  }
  if (kernel >= 0) node.backend = out.plan.kernels[static_cast<size_t>(kernel)].place.backend;
  set_origins(node, module->origins(), origins);
  graph->nodes.push_back(std::move(node));
  out.plan.nodes.push_back({kernel, function, origins});
  return static_cast<uint32_t>(graph->nodes.size()) - 1;
}

std::optional<uint32_t> LoweringState::add_load(const LoweredValue& constant) {
  const EntryId entry = constant_entries[static_cast<size_t>(constant.where)];
  const OriginSet folded = out.plan.nodes[graph->maker_of(entry)].origins;
  if (folded.empty()) return {};
  const Var value = make_var("p0", constant.type, NodeInfo(OriginSet::none(), {}, constant.type));
  const Function identity = make_function({value}, Expr(value), constant.type, {{"Primitive", int64_t{1}}},
                                          NodeInfo(OriginSet::none()));
  const auto read = std::make_shared<LoweredValue>(constant);
  const uint32_t node =
      add_node(identity, OriginSet::made_for(folded, "the constant it was folded into is passed on"), -1,
               "__nop", {read}, in_register(0, constant.type, constant.device));
  graph->nodes[node].kind = PlanNode::Kind::kNop;
  graph->nodes[node].name = node_names.make("load_" + graph->nodes[graph->maker_of(entry)].name);
  return node;
}

void LoweringState::add_fallback(uint32_t node, const std::string& why) {
  std::string& all = graph->nodes[node].fallback;
  all += (all.empty() || why.empty() ? "" : "; ") + why;
}

OriginSet LoweringState::operators_of(const FunctionNode& function) const {
  std::vector<OriginSet> all;
  const auto collect = [&](const Expr& node) {
    if (as<CallNode>(node) && !node->origins().empty()) all.push_back(node->origins());
  };
  post_order(function.body(), collect);
  if (all.empty())
    for (const auto& [name, other] : module->functions()) post_order(other->body(), collect);
  return all.empty() ? OriginSet::none() : OriginSet::merge_all(all);
}

void LoweringState::set_origins_at(EntryId entry, const OriginSet& origins) {
  const uint32_t node = graph->maker_of(entry);
  set_origins(graph->nodes[node], module->origins(), origins);
  out.plan.nodes[node].origins = origins;
}

uint32_t LoweringState::device_number(int type) const {
  if (type == 1) return 0;
  std::vector<int32_t>& all = out.program->devices;
  const auto at = std::ranges::find(all, type) - all.begin();
  if (static_cast<size_t>(at) == all.size()) all.push_back(type);
  return static_cast<uint32_t>(at) + 1;
}

}  // namespace baton::vm
