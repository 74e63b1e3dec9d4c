// The formats of Model Explorer's "custom node data" and JSON graphs (graph_builder.py, node_data_builder.py
// of the package ai-edge-model-explorer, 0.1.34).
#include "baton/profile/write/model_explorer.h"

#include <algorithm>
#include <map>

#include "baton/driver/origins/record_json.h"
#include "baton/profile/report/portions.h"
#include "baton/profile/report/report_text.h"
#include "baton/profile/views/module_tree.h"
#include "baton/support/diagnostic.h"
#include "baton/support/error.h"
#include "baton/support/json.h"

namespace baton {
namespace {

constexpr const char* kOperators = "operators";
constexpr const char* kModules = "modules";
constexpr const char* kKernels = "kernels";

std::string operator_id(uint32_t id) { return "op" + std::to_string(id); }
std::string kernel_id(uint32_t node) { return "kernel" + std::to_string(node); }

struct NodeAttrs {
  Json list = Json::array();
  void add(const char* key, const std::string& value) {
    if (!value.empty()) list.push_back({{"key", key}, {"value", value}});
  }
  void add_us(const char* key, const std::optional<double>& value) {
    if (value) add(key, us_text(*value));
  }
};

std::string place(const OperatorRow& row) {
  return row.line ? "line " + std::to_string(row.line) + ", column " + std::to_string(row.column) : "";
}

// Slashes separate layers; kernel names have none, but external regions' names may.
std::string layer(std::string name) {
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

std::map<uint32_t, const KernelRow*> by_node(const ProfileReport& report) {
  std::map<uint32_t, const KernelRow*> kernels;
  for (const KernelRow& row : report.kernels) kernels[row.node] = &row;
  return kernels;
}

std::string layer_of(const OperatorRow& row, const std::map<uint32_t, const KernelRow*>& kernels) {
  for (uint32_t node : row.nodes)
    if (const auto at = kernels.find(node); at != kernels.end())
      return layer(at->second->title) + " (node " + std::to_string(node) + ")";
  if (!row.retired_by.empty()) return "retired";
  return row.folded_into.empty() ? "" : "folded at compile time";
}

Json edges(const std::vector<uint32_t>& inputs, std::string (*id)(uint32_t)) {
  Json list = Json::array();
  for (size_t i = 0; i < inputs.size(); ++i)
    list.push_back({{"sourceNodeId", id(inputs[i])},
                    {"sourceNodeOutputId", "0"},
                    {"targetNodeInputId", std::to_string(i)}});
  return list;
}

/// In the layer `layer`.
Json operator_node(const OperatorRow& row, const std::string& layer,
                   const std::map<uint32_t, const KernelRow*>& kernels) {
  NodeAttrs attrs;
  attrs.add("place", place(row));
  attrs.add("source", row.source);
  attrs.add("module", row.module);
  if (const SourceLine line = row.written())
    attrs.add("source line", line.file + ":" + std::to_string(line.line));
  for (const auto& [name, value] : row.attrs) {
    const std::string* text = value.as<std::string>();
    attrs.add(name.c_str(), text ? *text : attr_json(value).dump());
  }
  for (uint32_t node : row.nodes)
    if (const auto at = kernels.find(node); at != kernels.end())
      attrs.add("kernel", at->second->name + ", " + us_with_unit(at->second->median_us));
  attrs.add_us("inside us", row.inside_us);
  attrs.add_us("unfused us", row.unfused_us);
  attrs.add("not fused", row.not_fused);
  if (!row.retired_by.empty()) attrs.add("retired", row.retired_by + ": " + row.retired_why);
  Json outputs = Json::array();
  if (!row.type.empty())
    outputs.push_back({{"id", "0"}, {"attrs", {{{"key", "type"}, {"value", row.type}}}}});
  return {{"id", operator_id(row.id)},
          {"label", row.op},
          {"namespace", layer},
          {"attrs", std::move(attrs.list)},
          {"incomingEdges", edges(row.inputs, operator_id)},
          {"outputsMetadata", std::move(outputs)}};
}

Json kernel_node(const ProfileReport& report, const KernelRow& row,
                 const std::map<uint32_t, const KernelRow*>& kernels) {
  NodeAttrs attrs;
  attrs.add("median us", us_text(row.median_us));
  char share[40];
  std::snprintf(share, sizeof share, "%.1f %%", row.share * 100);
  attrs.add("share", share);
  for (uint32_t id : row.origins) attrs.add("operator", operators_text(report, {id}));
  if (!row.reason.empty()) attrs.add("made for", operators_text(report, row.made_for) + ": " + row.reason);
  for (const InsideRow& part : row.inside)
    attrs.add("inside", part_label(report, part) + ": " + part_time(row, part));
  std::vector<uint32_t> inputs;  // only nodes with rows: reshape nops are not called
  for (uint32_t node : row.inputs)
    if (kernels.count(node)) inputs.push_back(node);
  return {{"id", kernel_id(row.node)},
          {"label", row.title},
          {"namespace", row.compiler.empty() ? "" : layer(row.compiler)},
          {"attrs", std::move(attrs.list)},
          {"incomingEdges", edges(inputs, kernel_id)}};
}

// Microseconds by node id.
using TimesById = std::map<uint32_t, double>;

void add(TimesById& times, uint32_t id, const std::optional<double>& us) {
  if (us) times[id] += *us;
}

Json data_of(const TimesById& times, std::string (*id)(uint32_t)) {
  Json results = Json::object();
  for (const auto& [each, us] : times) results[id(each)] = {{"value", us}};
  return {{"results", std::move(results)},
          {"gradient",
           {{{"stop", 0}, {"bgColor", "#ffffff"}, {"textColor", "#000000"}},
            {{"stop", 1}, {"bgColor", "#d73027"}, {"textColor", "#ffffff"}}}}};
}

}  // namespace

std::string explorer_graphs(const ProfileReport& report) {
  const auto kernels = by_node(report);
  Json operators = Json::array(), plan = Json::array();
  for (const OperatorRow& row : report.operators)
    operators.push_back(operator_node(row, layer_of(row, kernels), kernels));
  for (const KernelRow& row : report.kernels) plan.push_back(kernel_node(report, row, kernels));
  Json graphs = Json::array();
  // Without origins, operator nodes have no ids.
  if (!report.operators.empty()) graphs.push_back({{"id", kOperators}, {"nodes", std::move(operators)}});
  if (has_modules(report)) {
    Json modules = Json::array();
    for (const OperatorRow& row : report.operators)
      modules.push_back(operator_node(row, row.module, kernels));
    graphs.push_back({{"id", kModules}, {"nodes", std::move(modules)}});
  }
  graphs.push_back({{"id", kKernels}, {"nodes", std::move(plan)}});
  return Json{{"label", report.model + whose_times(report)}, {"graphs", std::move(graphs)}}.dump();
}

const std::vector<std::string>& explorer_quantities() {
  static const std::vector<std::string> names = {"fused_us", "inside_us", "unfused_us"};
  return names;
}

std::string explorer_data(const ProfileReport& report, const std::string& quantity) {
  TimesById operators, kernels;
  if (quantity == "fused_us") {
    for (const KernelRow& row : report.kernels) kernels[row.node] = row.median_us;
    const std::vector<OperatorTime> times = operator_times(report);
    for (uint32_t id = 0; id < times.size(); ++id)
      if (times[id].has_kernel) operators[id] = times[id].us;
  } else if (quantity == "inside_us") {
    for (const OperatorRow& row : report.operators) add(operators, row.id, row.inside_us);
    for (const KernelRow& row : report.kernels)
      for (const InsideRow& part : row.inside)
        if (!part.ids.empty()) add(kernels, row.node, part.us);
  } else if (quantity == "unfused_us") {
    for (const OperatorRow& row : report.operators) add(operators, row.id, row.unfused_us);
    for (const KernelRow& row : report.kernels)
      for (uint32_t id : row.origins) add(kernels, row.node, report.operators.at(id).unfused_us);
  } else {
    const std::string near = did_you_mean(quantity, explorer_quantities());
    throw Error("there is no time `" + quantity + "`" +
                (near.empty() ? "" : "; did you mean `" + near + "`?"));
  }
  Json data{{kOperators, data_of(operators, operator_id)}, {kKernels, data_of(kernels, kernel_id)}};
  data[kOperators]["name"] = data[kKernels]["name"] = quantity;
  if (has_modules(report)) data[kModules] = data[kOperators];
  return data.dump();
}

}  // namespace baton
