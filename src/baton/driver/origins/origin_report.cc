#include "baton/driver/origins/origin_report.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <unordered_map>

#include "baton/ir/rules/brief.h"
#include "baton/ir/visit.h"
#include "baton/text/origin_label.h"

namespace baton {
namespace {

/// Relay's literal `2e-05f` is read as the float32 next to it, 1.9999999494757503e-05: the shortest number
/// that means the same float32.
double shortest(double value) {
  const auto single = static_cast<float>(value);
  if (!std::isfinite(value) || static_cast<double>(single) != value) return value;
  char text[32];
  const char* const end = std::to_chars(text, text + sizeof text, single).ptr;
  std::from_chars(text, end, value);
  return value;
}

/// Types and objects become text, numbers their shortest form.
AttrValue plain(const AttrValue& value) {
  if (const DType* type = value.as<DType>()) return type->str();
  if (const AttrObjectRef* object = value.as<AttrObjectRef>()) return object->object->text();
  if (const double* number = value.as<double>()) return shortest(*number);
  const AttrList* list = value.as<AttrList>();
  if (!list) return value;
  AttrList items;
  for (const AttrValue& item : *list) items.push_back(plain(item));
  return items;
}

/// Attributes that differ from their defaults.
std::vector<std::pair<std::string, AttrValue>> written(const Attrs& attrs) {
  std::vector<std::pair<std::string, AttrValue>> found;
  if (!attrs) return found;
  for (const AttrField& field : attrs->schema().fields) {
    const AttrValue value = attrs->get(field.name);
    if (field.default_value && attr_text(*field.default_value) == attr_text(value)) continue;
    found.emplace_back(field.name, plain(value));
  }
  return found;
}

struct Places {
  std::set<uint32_t> nodes, folded_into;
};

/// For each origin: the nodes that carry it, and the readers of constants that carry it.
std::vector<Places> places_of(const OriginTable& origins, const GraphPlan& plan) {
  std::vector<Places> places(origins.size());
  for (uint32_t i = 0; i < plan.nodes.size(); ++i) {
    const PlannedNode& node = plan.nodes[i];
    if (!node.function) continue;
    const auto add = [&](const OriginSet& set, std::set<uint32_t> Places::* where) {
      for (const Origin* origin : set.origins())
        if (const auto id = origins.find(origin)) (places[index(*id)].*where).insert(i);
    };
    add(node.origins, &Places::nodes);
    post_order(Expr(node.function), [&](const Expr& inner) {  // scalars are immediates of the kernel
      if (inner->kind() == ExprKind::kConstant) add(inner->origins(), &Places::folded_into);
    });
    for (const EntryId input : plan.graph->nodes[i].inputs)
      if (const PlannedNode& source = plan.nodes[plan.graph->maker_of(input)]; !source.function)
        add(source.origins, &Places::folded_into);
  }
  return places;
}

/// Distinct texts, in first-use order.
struct Texts {
  std::vector<std::string> each;
  void add(const std::string& text) {
    if (std::find(each.begin(), each.end(), text) == each.end()) each.push_back(text);
  }
  std::string joined() const {
    std::string all;
    for (const std::string& text : each) all += (all.empty() ? "" : "; ") + text;
    return all;
  }
};

struct Reasons {
  Texts fused, not_fused;
};

std::unordered_map<const Origin*, Reasons> reasons_of(const FusionLog& fusion) {
  std::unordered_map<const Origin*, Reasons> reasons;
  for (const FusionLog::Entry& entry : fusion.entries())
    for (const Origin* origin : entry.origins.origins())
      (entry.fused ? reasons[origin].fused : reasons[origin].not_fused).add(entry.text);
  return reasons;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string text_of(const Type& type) { return type ? type_text(type) : std::string(); }

}  // namespace

OriginReport origin_report(const OriginTable& origins, const GraphPlan& plan,
                           const std::unordered_map<const Origin*, SourceOperator>& source,
                           const FusionLog& fusion) {
  const std::vector<Places> places = places_of(origins, plan);
  std::unordered_map<const Origin*, Reasons> reasons = reasons_of(fusion);
  OriginReport report;
  for (uint32_t i = 0; i < origins.size(); ++i) {
    const Origin& origin = origins.at(OriginId(i));
    const auto known = source.find(&origin);
    const SourceOperator facts = known == source.end() ? SourceOperator() : known->second;
    OperatorRecord& record = report.operators.emplace_back();
    record.id = i;
    record.op = origin.op();
    record.name = origin_name(origin);
    record.line = origin.span().line;
    record.column = origin.span().column;
    // Column 0: a whole line of the program that called the builder.
    if (origin.span() && origin.span().column == 0 && origin.span().source)
      record.file = origin.span().source->name();
    record.source = origin.source_name();
    record.module = joined_path(facts.function, origin.place() ? origin.place()->module() : "");
    if (origin.place()) record.source_line = origin.place()->line();
    record.attrs = written(origin.attrs());
    record.brief = facts.brief.empty() ? brief_name(origin.op()) : facts.brief;
    record.weight = text_of(facts.weight);
    record.weight_name = facts.weight_name;
    record.flops = facts.cost.flops;
    record.bytes = facts.cost.bytes;
    record.type = text_of(facts.type);
    for (const Type& type : facts.input_types) record.input_types.push_back(text_of(type));
    for (const Origin* input : facts.inputs)
      if (const auto id = origins.find(input)) record.inputs.push_back(index(*id));
    record.nodes.assign(places[i].nodes.begin(), places[i].nodes.end());
    record.folded_into.assign(places[i].folded_into.begin(), places[i].folded_into.end());
    record.fused = reasons[&origin].fused.joined();
    record.not_fused = reasons[&origin].not_fused.joined();
    if (const Retired* retired = origins.retired(OriginId(i))) {
      record.retired_by = retired->pass;
      record.retired_why = retired->reason;
    }
  }
  add_fused_with(report);
  return report;
}

OriginReport with_lines(OriginReport report, const OriginTable& origins) {
  std::unordered_map<const Source*, std::vector<std::string_view>> lines;
  for (OperatorRecord& record : report.operators) {
    const Span& span = origins.at(OriginId(record.id)).span();
    if (!span.source || span.line == 0) continue;
    std::vector<std::string_view>& of_source = lines[span.source.get()];
    if (of_source.empty()) of_source = lines_of(span.source->text());
    if (span.line <= of_source.size()) record.text = of_source[span.line - 1];
  }
  return report;
}

}  // namespace baton
