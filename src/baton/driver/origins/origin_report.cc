// origins.json: what became of every operator of the source.
#include "baton/driver/origins/origin_report.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "baton/driver/origins/origin_pack.h"
#include "baton/ir/visit.h"
#include "baton/text/origin_label.h"

namespace baton {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const AttrValue& value) {
  if (const bool* flag = value.as<bool>()) return *flag;
  if (const int64_t* number = value.as<int64_t>()) return *number;
  if (const double* number = value.as<double>()) return *number;
  if (const std::string* text = value.as<std::string>()) return *text;
  if (const DType* type = value.as<DType>()) return type->str();
  if (const AttrList* list = value.as<AttrList>()) {
    Json items = Json::array();
    for (const AttrValue& item : *list) items.push_back(json_of(item));
    return items;
  }
  if (const AttrObjectRef* object = value.as<AttrObjectRef>()) return object->object->text();
  return nullptr;
}

/// Only what the user would write: attributes that have their default are left out.
Json json_of(const Attrs& attrs) {
  Json object = Json::object();
  if (!attrs) return object;
  for (const AttrField& field : attrs->schema().fields) {
    const AttrValue value = attrs->get(field.name);
    if (field.default_value && attr_text(*field.default_value) == attr_text(value)) continue;
    object[field.name] = json_of(value);
  }
  return object;
}

struct Places {
  std::set<int> nodes, folded_into;
};

/// Where each origin ended: nodes that carry it, and readers of constants that carry it.
std::map<uint32_t, Places> places_of(const OriginTable& origins, const GraphPlan& plan) {
  std::map<uint32_t, Places> places;
  for (size_t i = 0; i < plan.nodes.size(); ++i) {
    const PlannedNode& node = plan.nodes[i];
    if (!node.function) continue;
    for (const Origin* origin : node.origins.origins())
      if (const auto id = origins.find(origin)) places[index(*id)].nodes.insert(static_cast<int>(i));
    post_order(Expr(node.function), [&](const Expr& inner) {  // scalars stand in the kernel itself
      if (inner->kind() != ExprKind::kConstant) return;
      for (const Origin* origin : inner->origins().origins())
        if (const auto id = origins.find(origin)) places[index(*id)].folded_into.insert(static_cast<int>(i));
    });
    for (int input : node.inputs) {
      const PlannedNode& source = plan.nodes[input];
      if (source.function) continue;
      for (const Origin* origin : source.origins.origins())
        if (const auto id = origins.find(origin)) places[index(*id)].folded_into.insert(static_cast<int>(i));
    }
  }
  return places;
}

/// Each text once, in the order met.
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

Json type_json(const Type& type) { return type ? Json(type_text(type)) : Json(nullptr); }

}  // namespace

std::string origins_json(const OriginTable& origins, const GraphPlan& plan,
                         const std::unordered_map<const Origin*, SourceOperator>& source,
                         const FusionLog& fusion) {
  std::map<uint32_t, Places> places = places_of(origins, plan);
  std::unordered_map<const Origin*, Reasons> reasons = reasons_of(fusion);
  Json operators = Json::array();
  for (uint32_t i = 0; i < origins.size(); ++i) {
    const Origin& origin = origins.at(OriginId(i));
    const Retired* retired = origins.retired(OriginId(i));
    const auto known = source.find(&origin);
    const SourceOperator facts = known == source.end() ? SourceOperator() : known->second;
    std::vector<uint32_t> inputs;
    for (const Origin* input : facts.inputs)
      if (const auto id = origins.find(input)) inputs.push_back(index(*id));
    Json input_types = Json::array();
    for (const Type& type : facts.input_types) input_types.push_back(type_json(type));
    Json entry;
    entry["id"] = i;
    entry["op"] = origin.op();
    entry["name"] = origin_name(origin);
    entry["line"] = origin.span().line;
    entry["column"] = origin.span().column;
    entry["source"] = origin.source_name().empty() ? Json(nullptr) : Json(origin.source_name());
    entry["attrs"] = json_of(origin.attrs());
    entry["type"] = type_json(facts.type);
    entry["inputs"] = inputs;
    entry["input_types"] = std::move(input_types);
    entry["nodes"] = places[i].nodes;
    entry["folded_into"] = places[i].folded_into;
    entry["fused_with"] = Json::array();
    entry["fused"] = reasons[&origin].fused.joined();
    entry["not_fused"] = reasons[&origin].not_fused.joined();
    entry["retired"] = retired ? Json{{"pass", retired->pass}, {"reason", retired->reason}} : Json(nullptr);
    operators.push_back(std::move(entry));
  }
  add_fused_with(operators);
  return Json{{"schema", 1}, {"operators", std::move(operators)}}.dump();
}

}  // namespace baton
