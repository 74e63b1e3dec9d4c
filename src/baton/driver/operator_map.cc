#include "baton/driver/operator_map.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "baton/driver/build.h"
#include "baton/driver/origins/origin_pack.h"
#include "baton/driver/plan/kernel_names.h"
#include "baton/support/diagnostic.h"
#include "baton/text/origin_label.h"

namespace baton {
namespace {

using Json = nlohmann::ordered_json;

std::string text_or_none(const Json& value) {
  return value.is_null() ? std::string() : value.get<std::string>();
}

OperatorEntry entry_of(const Json& row) {
  OperatorEntry entry;
  row.at("id").get_to(entry.id);
  row.at("op").get_to(entry.op);
  row.at("name").get_to(entry.name);
  row.at("line").get_to(entry.line);
  row.at("column").get_to(entry.column);
  entry.source = text_or_none(row.at("source"));
  entry.attrs = row.at("attrs");
  entry.type = text_or_none(row.at("type"));
  for (const Json& type : row.at("input_types")) entry.input_types.push_back(text_or_none(type));
  row.at("inputs").get_to(entry.inputs);
  row.at("nodes").get_to(entry.nodes);
  row.at("folded_into").get_to(entry.folded_into);
  row.at("fused_with").get_to(entry.fused_with);
  row.at("fused").get_to(entry.fused);
  row.at("not_fused").get_to(entry.not_fused);
  if (const Json& retired = row.at("retired"); !retired.is_null()) {
    retired.at("pass").get_to(entry.retired_by);
    retired.at("reason").get_to(entry.retired_why);
  }
  return entry;
}

std::vector<OperatorEntry> entries_of(std::string_view origins_json) {
  if (origins_json.empty())
    throw Error(
        "its origins were stripped: nothing says which operators its kernels compute; build it again with "
        "`baton build`");
  std::vector<OperatorEntry> entries;
  try {
    const Json json = unpacked_origins(origins_json);
    for (const Json& row : json.at("operators")) entries.push_back(entry_of(row));
  } catch (const nlohmann::json::exception& error) {
    throw Error(std::string("its origins.json cannot be read, so it was built by another version or changed; "
                            "build it again (") +
                error.what() + ")");
  }
  return entries;
}

void check(bool fits) {
  if (!fits) throw Error("its origins.json does not belong to its graph.json: build it again");
}

/// Those that hold the name, where it is no misspelling of one: "conv2d".

}  // namespace

bool OperatorEntry::is_meant_by(std::string_view wanted) const {
  return means_operator(wanted,
                        {op, name, source, static_cast<uint32_t>(line), static_cast<uint32_t>(column)});
}

OperatorMap OperatorMap::read(std::string_view graph_json, std::string_view origins_json,
                              const OriginTable* table) {
  OperatorMap map;
  auto plan = Plan::parse(graph_json);
  if (!plan.ok()) throw Error(plan.status().message);
  map.plan_ = std::move(*plan);
  map.operators_ = entries_of(origins_json);
  const std::vector<PlanNode>& nodes = map.plan_->nodes;
  map.makers_.resize(map.plan_->entries.size());
  for (uint32_t i = 0; i < nodes.size(); ++i)
    for (uint32_t output = 0; output < nodes[i].num_outputs; ++output)
      map.makers_[nodes[i].first_entry + output] = i;
  map.inputs_.resize(nodes.size());
  map.readers_.resize(nodes.size());
  for (uint32_t i = 0; i < nodes.size(); ++i)
    for (const EntryId entry : nodes[i].inputs) {
      const uint32_t maker = map.makers_[entry];
      if (std::find(map.inputs_[i].begin(), map.inputs_[i].end(), maker) != map.inputs_[i].end()) continue;
      map.inputs_[i].push_back(maker);
      map.readers_[maker].push_back(i);
    }
  for (const PlanNode& node : nodes)
    for (const auto* ids : {&node.origins, &node.made_for})
      for (const uint32_t id : *ids) check(id < map.operators_.size());
  for (size_t i = 0; i < map.operators_.size(); ++i) {
    OperatorEntry& entry = map.operators_[i];
    check(entry.id == i);
    for (const uint32_t id : entry.inputs) check(id < map.operators_.size());
    for (const uint32_t node : entry.folded_into) check(node < nodes.size());
    for (const uint32_t id : entry.fused_with) check(id < map.operators_.size());
    for (const uint32_t node : entry.nodes)
      check(node < nodes.size() &&
            std::binary_search(nodes[node].origins.begin(), nodes[node].origins.end(), entry.id));
    if (!table) continue;
    const Span& span = table->at(OriginId(entry.id)).span();
    if (span.source) entry.text = span.source->line(span.line);
  }
  return map;
}

std::vector<uint32_t> OperatorMap::nodes_of_kernel(const std::string& name) const {
  std::vector<std::string> names;
  for (const std::string& wanted : {name, "tvmgen_default_" + name}) {  // tables leave that out
    std::vector<uint32_t> calls, named;
    for (uint32_t i = 0; i < plan_->nodes.size(); ++i) {
      const PlanNode& node = plan_->nodes[i];
      if (node.kind == PlanNode::Kind::kInput) continue;
      if (node.func_name == wanted) calls.push_back(i);
      if (node.name == wanted) named.push_back(i);
      names.push_back(node.name);
      names.push_back(node.func_name);
    }
    if (!calls.empty()) return calls;
    if (!named.empty()) return named;
  }
  throw UsageError("there is no kernel `" + name + "`" + similar_kernels(name, names));
}

std::optional<uint32_t> OperatorMap::namesake(const std::string& kernel) const {
  std::optional<uint32_t> named;
  bool called = false;
  for (uint32_t i = 0; i < plan_->nodes.size(); ++i) {
    const PlanNode& node = plan_->nodes[i];
    if (node.kind == PlanNode::Kind::kInput) continue;
    called |= node.func_name == kernel;
    if (node.name == kernel && node.func_name != kernel) named = i;
  }
  return called ? named : std::nullopt;
}

uint32_t OperatorMap::node(const std::string& id_or_name) const {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < plan_->nodes.size(); ++i) {
    if (plan_->nodes[i].name == id_or_name) return i;
    names.push_back(plan_->nodes[i].name);
  }
  uint32_t id = 0;
  const char* end = id_or_name.data() + id_or_name.size();
  const auto [stop, error] = std::from_chars(id_or_name.data(), end, id);
  if (stop != end || error == std::errc::invalid_argument)
    throw UsageError("there is no node `" + id_or_name + "`" + similar_kernels(id_or_name, names));
  if (error != std::errc() || id >= plan_->nodes.size())
    throw UsageError("there is no node " + id_or_name + ": graph.json has nodes 0 to " +
                     std::to_string(plan_->nodes.size() - 1));
  return id;
}

const PlanNode& OperatorMap::kernel_node(uint32_t node) const {
  if (node >= plan_->nodes.size())
    throw UsageError("there is no node " + std::to_string(node) + ": graph.json has nodes 0 to " +
                     std::to_string(plan_->nodes.size() - 1));
  const PlanNode& found = plan_->nodes[node];
  if (found.kind != PlanNode::Kind::kInput) return found;
  std::string readers;
  for (const uint32_t reader : readers_of(node))
    readers += (readers.empty() ? "" : ", ") + std::to_string(reader);
  throw UsageError("node " + std::to_string(node) + " is `" + found.name +
                   "`, an input or a constant: no kernel computes it" +
                   (readers.empty() ? "" : "; nodes that read it: " + readers));
}

std::vector<uint32_t> OperatorMap::operators_called(const std::string& wanted) const {
  std::vector<uint32_t> found;
  std::vector<std::string> names;
  for (const OperatorEntry& entry : operators_) {
    if (entry.is_meant_by(wanted)) found.push_back(entry.id);
    names.push_back(entry.name);
    names.push_back(entry.op);
    names.push_back(entry.source);
  }
  if (!found.empty()) return found;
  const std::string near = did_you_mean(wanted, names);
  throw UsageError("there is no operator `" + wanted + "`" +
                   (near.empty() ? "" : "; did you mean `" + near + "`?") +
                   "\n  `baton print` shows the names (%12), `baton explain` without --operator lists all");
}

std::vector<uint32_t> OperatorMap::operators_of(const std::vector<uint32_t>& nodes) const {
  std::set<uint32_t> ids;
  for (const uint32_t node : nodes)
    ids.insert(plan_->nodes.at(node).origins.begin(), plan_->nodes.at(node).origins.end());
  return {ids.begin(), ids.end()};
}

std::vector<std::string> OperatorMap::kernels_of(uint32_t id) const {
  std::vector<std::string> names;
  for (const uint32_t node : at(id).nodes) {
    const std::string& name = plan_->nodes[node].name;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

const OperatorEntry& OperatorMap::at(uint32_t id) const {
  if (id < operators_.size()) return operators_[id];
  throw UsageError("there is no operator " + std::to_string(id) +
                   (operators_.empty() ? ": the program has none"
                                       : ": the last one is " + std::to_string(operators_.size() - 1)));
}

OperatorMap operator_map(const BuildResult& built) {
  return OperatorMap::read(built.graph_json(), built.origins_json, &built.optimized->origins());
}

nlohmann::ordered_json to_json(const OperatorEntry& entry) {
  const auto or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  Json json{{"id", entry.id},
            {"op", entry.op},
            {"name", entry.name},
            {"line", entry.line},
            {"column", entry.column},
            {"text", or_null(entry.text)},
            {"source", or_null(entry.source)},
            {"attrs", entry.attrs},
            {"type", or_null(entry.type)},
            {"inputs", entry.inputs},
            {"input_types", entry.input_types},
            {"nodes", entry.nodes},
            {"folded_into", entry.folded_into},
            {"fused_with", entry.fused_with},
            {"fused", or_null(entry.fused)},
            {"not_fused", or_null(entry.not_fused)}};
  json["retired"] = entry.retired_by.empty()
                        ? Json(nullptr)
                        : Json{{"pass", entry.retired_by}, {"reason", entry.retired_why}};
  return json;
}

}  // namespace baton
