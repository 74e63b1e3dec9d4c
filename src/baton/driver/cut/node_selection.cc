#include "baton/driver/cut/node_selection.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "baton/driver/plan/kernel_names.h"
#include "baton/support/diagnostic.h"
#include "baton/text/origin_label.h"

namespace baton {

std::string_view short_node_name(std::string_view name) {
  constexpr std::string_view kPrefix = "tvmgen_";
  if (!name.starts_with(kPrefix)) return name;
  const size_t at = name.find("_fused_");
  return at == std::string_view::npos ? name : name.substr(at + 1);
}

namespace {

std::string trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  return first == std::string_view::npos ? "" : std::string(text.substr(first, last - first + 1));
}

std::vector<std::string> items_of(const std::string& text, const std::string& flag) {
  std::vector<std::string> items;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    items.push_back(trimmed(std::string_view(text).substr(at, end - at)));
    if (items.back().empty())
      throw UsageError(flag +
                       (trimmed(text).empty() ? " names nothing" : " \"" + text + "\" has an empty item"));
    at = end + 1;
  }
  return items;
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<int> number_of(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

/// Whether `given` abbreviates `name`: without the common prefix of names.
bool is_short_for(std::string_view given, std::string_view name) {
  constexpr std::string_view kPrefix = "tvmgen_default_";
  return short_node_name(name) == given ||
         (name.starts_with(kPrefix) && name.substr(kPrefix.size()) == given);
}

std::string counted(size_t count, const char* what) {
  return count == 0 ? std::string("no ") + what
                    : std::to_string(count) + " " + what + ", 0 to " + std::to_string(count - 1);
}

[[noreturn]] void unknown(const std::string& what, const std::string& name,
                          const std::vector<std::string>& names, const std::string& where) {
  throw UsageError("there is no " + what + " `" + name + "`" + similar_kernels(name, names) + "\n  " + where);
}

class NodeNames {
 public:
  explicit NodeNames(const GraphPlan& plan) : plan_(plan) {}

  std::vector<int> select(const std::string& item) const {
    if (const std::optional<int> whole = by_name(item)) return {*whole};
    constexpr std::string_view kEntry = "entry:";
    const bool entries = item.starts_with(kEntry);
    const std::string rest = entries ? item.substr(kEntry.size()) : item;
    const size_t colon = rest.find(':');
    const std::string first = trimmed(rest.substr(0, colon)),
                      last = colon == std::string::npos ? first : trimmed(rest.substr(colon + 1));
    if (first.empty() || last.empty())
      throw UsageError("the range `" + item + "` has an open end: both ends belong to a range, as in 5:9");
    const int from = entries ? node_of_entry(first) : node(first),
              to = entries ? node_of_entry(last) : node(last);
    if (from > to)
      throw UsageError("the range `" + item + "` runs backwards: node " + std::to_string(from) +
                       " comes behind node " + std::to_string(to));
    std::vector<int> nodes;
    for (int each = from; each <= to; ++each) nodes.push_back(each);
    return nodes;
  }

 private:
  int node(const std::string& text) const {
    if (is_number(text)) {
      const std::optional<int> id = number_of(text);
      if (!id || static_cast<size_t>(*id) >= plan_.nodes.size())
        throw UsageError("there is no node " + text + ": the graph has " +
                         counted(plan_.nodes.size(), "nodes"));
      return *id;
    }
    if (const std::optional<int> found = by_name(text)) return *found;
    std::vector<std::string> names;
    for (const PlanNode& each : plan_.graph->nodes) names.push_back(each.name);
    unknown("node", text, names, "nodes are named in graph.json and by `baton profile`, counted from 0");
  }

  std::optional<int> by_name(const std::string& name) const {
    for (const bool exact : {true, false})
      for (size_t i = 0; i < plan_.nodes.size(); ++i) {
        const std::string& each = plan_.name_of(i);
        if (exact ? each == name && !is_number(name) : plan_.nodes[i].function && is_short_for(name, each))
          return static_cast<int>(i);
      }
    return std::nullopt;
  }

  // By node_row_ptr: node i has the tensors node_row_ptr[i] to node_row_ptr[i + 1] - 1.
  int node_of_entry(const std::string& text) const {
    const std::optional<int> entry = is_number(text) ? number_of(text) : std::nullopt;
    if (!entry || static_cast<size_t>(*entry) >= plan_.graph->entries.size())
      throw UsageError("there is no entry:" + text + ": node_row_ptr counts " +
                       counted(plan_.graph->entries.size(), "tensors"));
    return static_cast<int>(plan_.graph->maker_of(static_cast<EntryId>(*entry)));
  }

  const GraphPlan& plan_;
};

}  // namespace

std::vector<int> select_nodes(const GraphPlan& plan, const std::string& text) {
  const NodeNames names(plan);
  std::set<int> nodes;
  for (const std::string& item : items_of(text, "--nodes")) {
    const std::vector<int> each = names.select(item);
    nodes.insert(each.begin(), each.end());
  }
  return {nodes.begin(), nodes.end()};
}

std::vector<int> select_kernel(const GraphPlan& plan, const std::string& name) {
  const std::vector<PlanNode>& nodes = plan.graph->nodes;
  const auto named = [&](const std::string& each, bool exact) {
    return exact ? each == name : is_short_for(name, each);
  };
  for (const bool exact : {true, false}) {
    std::vector<int> callers;
    for (size_t i = 0; i < nodes.size(); ++i)
      if (nodes[i].kind == PlanNode::Kind::kKernel && named(nodes[i].func_name, exact))
        callers.push_back(static_cast<int>(i));
    if (!callers.empty()) return callers;
  }
  for (const bool exact : {true, false})
    for (size_t i = 0; i < nodes.size(); ++i)
      if (nodes[i].kind != PlanNode::Kind::kInput && named(nodes[i].name, exact))
        return {static_cast<int>(i)};
  std::vector<std::string> names;
  for (const PlanNode& node : nodes)
    if (node.kind != PlanNode::Kind::kInput) names.push_back(node.func_name);
  unknown("kernel", name, names,
          "`baton profile` shows the kernels of a model, `baton explain` those of its operators");
}

namespace {

/// Names of operators. "conv2d 3x3 + relu, line 14", as a report has it, is one.
std::vector<std::string> operator_items(const std::string& text) {
  std::vector<std::string> items;
  for (std::string& item : items_of(text, "--operators")) {
    const bool continues = item.starts_with("line ") && !items.empty() &&
                           items.back().find(' ') != std::string::npos && !items.back().starts_with("line ");
    if (continues)
      items.back() += ", " + item;
    else
      items.push_back(std::move(item));
  }
  return items;
}

}  // namespace

std::vector<const Origin*> select_operators(const OriginTable& table, const std::string& text) {
  std::set<uint32_t> found;
  for (const std::string& item : operator_items(text)) {
    constexpr std::string_view kId = "id:";
    if (item.starts_with(kId)) {
      const std::optional<int> id =
          is_number(item.substr(kId.size())) ? number_of(item.substr(kId.size())) : std::nullopt;
      if (!id || static_cast<size_t>(*id) >= table.size())
        throw UsageError("there is no operator " + item + ": the program has " +
                         counted(table.size(), "operators"));
      found.insert(static_cast<uint32_t>(*id));
      continue;
    }
    bool any = false;
    for (uint32_t i = 0; i < table.size(); ++i) {
      if (!means_origin(item, table.at(OriginId(i)))) continue;
      any = true;
      found.insert(i);
    }
    if (any) continue;
    std::vector<std::string> names;
    for (uint32_t i = 0; i < table.size(); ++i) {
      names.push_back(origin_name(table.at(OriginId(i))));
      names.push_back(table.at(OriginId(i)).op());
    }
    unknown("operator", item, names,
            "`baton print` shows the names (%12), `baton explain` lists all operators");
  }
  std::vector<const Origin*> operators;
  for (const uint32_t id : found) operators.push_back(&table.at(OriginId(id)));
  return operators;
}

}  // namespace baton
