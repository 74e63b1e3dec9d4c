#include "baton/cli/explain/explain_text.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "baton/driver/origins/record_json.h"
#include "baton/support/json.h"

namespace baton::cli {

namespace {

constexpr size_t kShown = 160;

std::string trimmed(std::string_view line) {
  while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  return std::string(line.substr(0, kShown)) + (line.size() > kShown ? " ..." : "");
}

std::string joined(const std::vector<std::string>& parts, const char* between = ", ") {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : between) + part;
  return text;
}

std::string indented(const std::string& text, const std::string& indent) {
  std::string result = indent;
  for (const char c : text) {
    result += c;
    if (c == '\n') result += indent;
  }
  return result;
}

/// The fewest digits that round-trip: attributes are stored as 32-bit floats.
std::string number_text(double value) {
  char text[40];
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    const double read = std::strtod(text, nullptr);
    if (read == value || (digits < 10 && static_cast<double>(static_cast<float>(read)) == value)) break;
  }
  return text;
}

/// Relay text of a value.
std::string value_text(const AttrValue& value) {
  if (const double* number = value.as<double>()) return number_text(*number);
  if (const bool* flag = value.as<bool>()) return *flag ? "True" : "False";
  if (value.is_none()) return "None";
  const AttrList* list = value.as<AttrList>();
  if (!list) return attr_json(value).dump();
  std::vector<std::string> items;
  for (const AttrValue& item : *list) items.push_back(value_text(item));
  return "[" + joined(items) + "]";
}

std::string attrs_text(const OperatorRecord& entry) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : entry.attrs) parts.push_back(name + "=" + value_text(value));
  return joined(parts);
}

std::string labels(const OperatorMap& map, const std::vector<uint32_t>& ids) {
  constexpr size_t kMost = 12;
  std::vector<std::string> parts;
  for (size_t i = 0; i < std::min(kMost, ids.size()); ++i) parts.push_back(map.at(ids[i]).label());
  return joined(parts) + (ids.size() > kMost ? " and " + std::to_string(ids.size() - kMost) + " more" : "");
}

std::string names_of(const OperatorMap& map, const std::vector<uint32_t>& nodes) {
  std::vector<std::string> names;
  for (const uint32_t node : nodes) {
    const std::string& name = map.plan().nodes[node].name;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return joined(names);
}

/// Shortens "Tensor[(1, 8), float32]" to "(1, 8)" and adds its element type to `dtypes`; other types are
/// unchanged.
std::string short_type(const std::string& type, std::set<std::string>& dtypes) {
  constexpr std::string_view kTensor = "Tensor[(";
  std::string text;
  for (size_t at = 0; at < type.size();) {
    const size_t close = type.find("), ", at), end = type.find(']', at);
    if (type.compare(at, kTensor.size(), kTensor) != 0 || close == std::string::npos ||
        end == std::string::npos || end < close) {
      text += type[at++];
      continue;
    }
    text += type.substr(at + kTensor.size() - 1, close + 1 - (at + kTensor.size() - 1));
    dtypes.insert(type.substr(close + 3, end - close - 3));
    at = end + 1;
  }
  if (text == type) dtypes.insert(type);  // not shortened
  return text;
}

/// "(1, 64), (10, 64) -> (1, 10) float32" when all tensors have one element type.
std::string types_text(const OperatorRecord& entry) {
  std::set<std::string> dtypes;
  std::vector<std::string> inputs;
  for (const std::string& type : entry.input_types) inputs.push_back(short_type(type, dtypes));
  const std::string result = short_type(entry.type.empty() ? "?" : entry.type, dtypes);
  if (dtypes.size() == 1)
    return joined(inputs) + (inputs.empty() ? "-> " : " -> ") + result + " " + *dtypes.begin();
  return joined(entry.input_types) + (inputs.empty() ? "-> " : " -> ") +
         (entry.type.empty() ? "?" : entry.type);
}

/// "nodes 3, 5".
std::string list_of_nodes(const std::vector<uint32_t>& nodes) {
  std::string text = nodes.size() == 1 ? "node " : "nodes ";
  for (size_t i = 0; i < nodes.size(); ++i) text += (i ? ", " : "") + std::to_string(nodes[i]);
  return text;
}

std::string end_of(const Subject& subject, const OperatorRecord& entry) {
  std::vector<std::string> parts;
  if (!entry.nodes.empty()) parts.push_back("computed by " + names_of(subject.map, entry.nodes));
  if (!entry.folded_into.empty())
    parts.push_back("folded into a constant of " + names_of(subject.map, entry.folded_into));
  if (!entry.retired_by.empty()) parts.push_back("retired by " + entry.retired_by + ": " + entry.retired_why);
  return parts.empty() ? "in a constant that is returned or passed on" : joined(parts, "; ");
}

/// Why nodes that compute the operator are not computed as asked, or by kernels: a line for each of them.
std::string fallbacks_text(const Subject& subject, const OperatorRecord& entry) {
  std::string text;
  for (const uint32_t id : entry.nodes) {
    const PlanNode& node = subject.map.plan().nodes[id];
    if (!node.fallback.empty()) text += "    " + node.name + " falls back: " + node.fallback + "\n";
  }
  return text;
}

std::string steps_text(const Subject& subject, uint32_t id) {
  if (subject.artifact)
    return "  (an artifact does not know which passes led to it: explain the model it was built from)\n";
  // A pass that changes an operator several times, or in equal ways, is one block.
  std::string text;
  const Step* last = nullptr;
  for (const Step& step : subject.steps[id]) {
    if (last && last->pass == step.pass && last->change == step.change) continue;
    if (!last || last->pass != step.pass) text += "  " + step.pass + "\n";
    text += "    " + step.change + "\n";
    last = &step;
  }
  return text;
}

// ---- Kernels.

std::string amount(double value, const char* unit) {
  const char* scale[] = {"", "k", "M", "G", "T"};
  size_t at = 0;
  for (; value >= 1000 && at < 4; ++at) value /= 1000;
  char text[64];
  std::snprintf(text, sizeof text, value >= 100 || at == 0 ? "%.0f %s%s" : "%.3g %s%s", value, scale[at],
                unit);
  return text;
}

std::string rows_text(const Subject& subject, uint32_t node) {
  const std::vector<uint32_t>& ids = subject.map.kernel_node(node).origins;
  size_t width = 0;
  for (const uint32_t id : ids) width = std::max(width, subject.map.at(id).label().size());
  std::string text;
  for (const uint32_t id : ids) {
    const OperatorRecord& entry = subject.map.at(id);
    std::string label = entry.label();
    label.resize(width, ' ');
    text += "    " + label;
    if (entry.line > 0) text += "  line " + std::to_string(entry.line);
    if (!entry.source.empty() && entry.source != entry.name) text += "  " + entry.source;
    if (!entry.module.empty()) text += "  in " + entry.module;
    if (const std::string attrs = attrs_text(entry); !attrs.empty()) text += "  " + attrs;
    text += "\n      " + types_text(entry) + "\n";
    std::vector<uint32_t> others;
    for (const uint32_t other : entry.nodes)
      if (other != node) others.push_back(other);
    if (!entry.folded_into.empty())
      text += "      partly computed at compile time, into constants of " + list_of_nodes(entry.folded_into) +
              "\n";
    if (!others.empty()) text += "      partly computed by " + list_of_nodes(others) + "\n";
  }
  return text;
}

std::string node_text(const Subject& subject, uint32_t id) {
  const PlanNode& node = subject.map.kernel_node(id);
  std::vector<uint32_t> made;
  std::vector<std::string> reads;
  for (const uint32_t input : subject.map.inputs_of(id)) {
    const PlanNode& source = subject.map.plan().nodes[input];
    if (source.kind == PlanNode::Kind::kInput)
      reads.push_back(source.name);
    else
      made.push_back(input);
  }
  if (!made.empty()) reads.insert(reads.begin(), list_of_nodes(made));
  const std::vector<uint32_t> readers = subject.map.readers_of(id);
  std::string text =
      "  node " + std::to_string(id) + (node.name == node.func_name ? "" : " " + node.name) + "\n";
  if (!node.backend.empty()) text += "    computed by " + node.backend + "\n";
  if (subject.map.plan().is_simulated(id))
    text += "    simulated: a profile has its time from a device sheet\n";
  text += "    reads ";
  text += (reads.empty() ? "nothing" : joined(reads)) + "; " +
          (readers.empty() ? "its result is the model's" : "read by " + list_of_nodes(readers)) + "\n";
  text += rows_text(subject, id);
  if (!node.made_for.empty())
    text += "    made for " + labels(subject.map, node.made_for) + ": " + node.reason + "\n";
  if (!node.fallback.empty()) text += "    falls back: " + node.fallback + "\n";
  return text;
}

/// For all nodes together: equal kernels are mostly fused for equal reasons.
std::string fusion_text(const Subject& subject, const std::vector<uint32_t>& nodes) {
  std::vector<std::pair<std::string, std::vector<uint32_t>>> together, ends;
  const auto add = [](auto& list, const std::string& why, uint32_t id) {
    auto at = std::find_if(list.begin(), list.end(), [&](const auto& each) { return each.first == why; });
    if (at == list.end()) at = list.insert(list.end(), {why, {}});
    at->second.push_back(id);
  };
  for (const uint32_t id : subject.map.operators_of(nodes)) {
    const OperatorRecord& entry = subject.map.at(id);
    if (!entry.fused.empty()) add(together, entry.fused, id);
    if (!entry.not_fused.empty()) add(ends, entry.not_fused, id);
  }
  std::string text;
  for (const auto& [why, ids] : together) text += "    " + labels(subject.map, ids) + ": " + why + "\n";
  const std::string own = subject.ends.empty() ? "" : subject.ends[nodes.front()];
  if (ends.empty() && !own.empty()) text += "    ends with the compiler's own " + own + "\n";
  for (const auto& [why, ids] : ends) text += "    ends with " + labels(subject.map, ids) + ": " + why + "\n";
  return text.empty() ? "" : "  fused\n" + text;
}

/// One line per reason.
std::string skipped_text(const std::vector<std::string>& skipped) {
  std::vector<std::pair<std::string, std::string>> reasons;
  for (const std::string& each : skipped) {
    const size_t colon = std::min(each.find(": "), each.size());
    const std::string name = each.substr(0, colon), why = each.substr(colon);
    const auto at =
        std::find_if(reasons.begin(), reasons.end(), [&](const auto& reason) { return reason.first == why; });
    if (at == reasons.end())
      reasons.emplace_back(why, name);
    else
      at->second += ", " + name;
  }
  std::string text;
  for (const auto& [why, names] : reasons) text += "    not " + names + why + "\n";
  return text;
}

std::string code_text(const Subject& subject, const PlanNode& node, const KernelFacts& facts) {
  const bool is_load = node.kind == PlanNode::Kind::kNop && !node.made_for.empty();
  if (facts.template_name.empty())
    return std::string("  code\n    none: the result is its input") +
           (is_load ? "" : " under another shape") + "\n";
  std::vector<std::string> params;
  for (const auto& [name, value] : facts.params) params.push_back(name + "=" + std::to_string(value));
  std::string text =
      "  code\n    template " + facts.template_name + (params.empty() ? "" : ": " + joined(params)) + "\n";
  for (const ExtentCase& each : facts.cases) {
    std::vector<std::string> given;
    for (const auto& [name, value] : each.params) given.push_back(name + "=" + std::to_string(value));
    text += "    " + (each.condition.empty() ? "else" : "where " + each.condition) + ": " +
            each.template_name + (given.empty() ? "" : ", " + joined(given)) + "\n";
  }
  if (!facts.chosen_by.empty()) text += "    chosen by " + facts.chosen_by + "\n";
  text += skipped_text(facts.skipped.value_or(std::vector<std::string>()));
  if (subject.artifact) text += "    (an artifact does not keep the Relay of its kernels)\n";
  if (!facts.flops || !facts.bytes) return text;
  text += "    " + amount(*facts.flops, "FLOP") + ", " + amount(*facts.bytes, "B") + " moved at least";
  char intensity[64] = "";
  if (*facts.bytes > 0)
    std::snprintf(intensity, sizeof intensity, ": %.3g FLOP/B", *facts.flops / *facts.bytes);
  return text + intensity + "\n";
}

}  // namespace

std::string taken_text(const TakenOperator& taken) {
  if (!taken.met) return "no call is left that computes it";
  if (!taken.taken) return "not taken: " + taken.how;
  return "taken" + (taken.how.empty() ? "" : ", " + taken.how);
}

std::string summary_line(const Subject& subject, uint32_t id) {
  const OperatorRecord& entry = subject.map.at(id);
  std::string text = entry.label() + ": " + end_of(subject, entry) + "\n" + fallbacks_text(subject, entry);
  for (const auto& [backend, taken] : subject.taken)
    text += "    " + backend + ": " + taken_text(taken[id]) + "\n";
  return text;
}

std::string operator_section(const Subject& subject, uint32_t id) {
  const OperatorRecord& entry = subject.map.at(id);
  std::string text = entry.label();
  if (entry.line > 0) text += ", line " + std::to_string(entry.line);
  if (!entry.source.empty() && entry.source != entry.name) text += ", " + entry.source;
  text += "\n";
  if (!entry.module.empty()) text += "  in module " + entry.module + "\n";
  if (const SourceLine& line = entry.source_line)
    text += "  called at " + line.file + ":" + std::to_string(line.line) +
            (line.function.empty() ? "" : " in " + line.function) +
            (line.text.empty() ? "" : ": " + line.text) + "\n";
  const std::string attrs = attrs_text(entry);
  if (!entry.text.empty())
    text += "  " + trimmed(entry.text) + "\n";
  else if (!attrs.empty())
    text += "  " + attrs + "\n";
  text += "  types: " + types_text(entry) + "\n";
  if (!entry.inputs.empty()) text += "  reads " + labels(subject.map, entry.inputs) + "\n";
  text += steps_text(subject, id);
  if (!entry.fused_with.empty())
    text += "  fused with " + labels(subject.map, entry.fused_with) +
            (entry.fused.empty() ? "" : ": " + entry.fused) + "\n";
  if (!entry.not_fused.empty()) text += "  not fused with what uses its result: " + entry.not_fused + "\n";
  if (id < subject.primitives.size())
    for (const std::string& primitive : subject.primitives[id]) text += "  computed as " + primitive + "\n";
  for (const auto& [backend, taken] : subject.taken)
    text += "  " + backend + ": " + taken_text(taken[id]) + "\n";
  return text + "  in the end " + end_of(subject, entry) + "\n" + fallbacks_text(subject, entry);
}

std::string kernel_section(const Subject& subject, const std::vector<uint32_t>& nodes) {
  const PlanNode& first = subject.map.kernel_node(nodes.front());
  std::string text = (first.kind == PlanNode::Kind::kNop ? first.name : first.func_name) + "\n";
  for (const uint32_t node : nodes) text += node_text(subject, node);
  const KernelFacts facts = subject.facts(nodes.front());
  text += fusion_text(subject, nodes) + code_text(subject, first, facts);
  if (!facts.relay.empty()) text += "  Relay\n" + indented(facts.relay, "    ") + "\n";
  return text;
}

}  // namespace baton::cli
