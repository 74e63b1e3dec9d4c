#include "baton/map/write/map_page.h"

#include "baton/map/model/map_text.h"
#include "baton/page/fill.h"
#include "baton/profile/write/alternatives_text.h"
#include "baton/support/json.h"

namespace baton {

namespace {

/// Operators that read an input of the model, and those whose result it returns: there copies come from and
/// go to the caller.
void mark_ends(const ModelProblem& priced, Json& rows) {
  for (size_t v = 0; v < priced.problem.values.size(); ++v) {
    const MappingValue& value = priced.problem.values[v];
    if (value.given >= 0)
      for (const int node : value.consumers)
        rows[priced.operators[static_cast<size_t>(node)].front()]["reads_input"] = true;
    if (value.producer >= 0 && !value.required.empty()) rows[priced.values[v]]["returned"] = true;
  }
}

/// What the graph and the details need of an operator; its place and alternatives are the mapping's.
Json operators_json(const MapResult& result) {
  Json rows = Json::array();
  for (const OperatorRecord& record : result.origins.operators)
    rows.push_back({{"id", record.id},
                    {"op", record.op},
                    {"name", record.name},
                    {"module", record.module},
                    {"line", record.line},
                    {"file", record.file},
                    {"brief", record.brief},
                    {"type", record.type},
                    {"flops", record.flops},
                    {"retired", record.retired_why},
                    {"inputs", record.inputs}});
  mark_ends(result.priced, rows);
  return rows;
}

}  // namespace

const std::vector<FileKind>& map_file_kinds() {
  static const std::vector<FileKind> kinds = {
      {.suffix = ".json",
       .doc = "the mapping: to edit, for partition --mapping and explain --mapping",
       .parts = {""}},
      {.suffix = ".html",
       .doc = "one page: the graph by backend, alternatives, timeline, sweeps, other prices of transfers",
       .parts = {""}}};
  return kinds;
}

SweepRange transfer_prices() { return {.of = SweepOf::kLink, .least = 0.01, .most = 100}; }

SweepOptions transfer_price_options() { return {.points = 25, .seconds = 0.3}; }

std::string map_page(const MapResult& result, const std::vector<MapSweep>& sweeps, const MapSweep& prices) {
  Json data = map_json(result, sweeps);
  data["operators"] = operators_json(result);
  data["prices"] = sweep_json(result.report, prices);
  for (Json& each : data["mapping"]["operators"])
    each["why"] = alternatives_text(result.report.mapping.operators.at(each["id"].get<size_t>()));
  return filled_page(map_page_template(), result.report.model + ": Baton mapping", data);
}

}  // namespace baton
