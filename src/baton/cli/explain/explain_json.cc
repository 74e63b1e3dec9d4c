#include "baton/cli/explain/explain_json.h"

#include "baton/driver/origins/record_json.h"
#include "baton/support/json.h"
namespace baton::cli {

namespace {

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

/// "template: why" -> {"template", "why"}.
Json skipped_json(const std::vector<std::string>& skipped) {
  Json list = Json::array();
  for (const std::string& each : skipped) {
    const size_t colon = each.find(": ");
    list.push_back({{"template", each.substr(0, colon)},
                    {"why", colon == std::string::npos ? "" : each.substr(colon + 2)}});
  }
  return list;
}

Json code_json(const KernelFacts& facts) {
  Json params = Json::object();
  for (const auto& [name, value] : facts.params) params[name] = value;
  Json code = {{"template", or_null(facts.template_name)},
               {"params", std::move(params)},
               {"chosen_by", or_null(facts.chosen_by)},
               {"not_taken", facts.skipped ? skipped_json(*facts.skipped) : Json(nullptr)},
               {"flops", facts.flops ? Json(*facts.flops) : Json(nullptr)},
               {"bytes", facts.bytes ? Json(*facts.bytes) : Json(nullptr)},
               {"relay", or_null(facts.relay)}};
  for (const ExtentCase& each : facts.cases)
    code["cases"].push_back(
        {{"where", or_null(each.condition)}, {"template", each.template_name}, {"params", each.params}});
  return code;
}

}  // namespace

Json explain_head(const Subject& subject) {
  return {{"schema", 1},
          {"model", subject.name},
          {"artifact", subject.artifact != nullptr},
          {"version", subject.version}};
}

Json operator_json(const Subject& subject, uint32_t id) {
  Json row = to_json(subject.map.at(id), RecordForm::kExplain);
  if (id < subject.primitives.size() && !subject.primitives[id].empty())
    row["primitives"] = subject.primitives[id];
  for (const auto& [backend, taken] : subject.taken)
    row["backends"][backend] = {{"taken", taken[id].taken}, {"how", or_null(taken[id].how)}};
  row["steps"] = subject.artifact ? Json(nullptr) : Json::array();
  if (subject.artifact) return row;
  for (const Step& step : subject.steps[id])
    row["steps"].push_back({{"pass", step.pass}, {"change", step.change}});
  return row;
}

Json kernel_json(const Subject& subject, uint32_t id, bool code) {
  const PlanNode& node = subject.map.kernel_node(id);
  Json row{{"node", id},
           {"name", node.name},
           {"func_name", node.func_name},
           {"origins", node.origins},
           {"made_for", node.made_for},
           {"reason", or_null(node.reason)},
           {"inputs", subject.map.inputs_of(id)},
           {"readers", subject.map.readers_of(id)}};
  if (!node.backend.empty()) row["backend"] = node.backend;
  if (!node.fallback.empty()) row["fallback"] = node.fallback;
  if (subject.map.plan().is_simulated(id)) row["simulated"] = true;
  if (!code) return row;
  row["ends"] = or_null(subject.ends.empty() ? "" : subject.ends[id]);
  row.update(code_json(subject.facts(id)));
  return row;
}

}  // namespace baton::cli
