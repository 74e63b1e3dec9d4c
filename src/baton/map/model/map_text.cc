#include "baton/map/model/map_text.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "baton/support/json.h"

namespace baton {

namespace {

constexpr int kMapReportSchema = 1;

std::string digits(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string microseconds(double us) { return us <= 0 ? "-" : digits(us, us < 100 ? 2 : us < 10000 ? 1 : 0); }

std::string left(std::string text, size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}
std::string right(const std::string& text, size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

/// How many operators each backend computes.
std::map<int, int> operators_by_backend(const MappedModel& model) {
  std::map<int, int> counts;
  for (const int backend : model.backend_of)
    if (backend >= 0) ++counts[backend];
  return counts;
}

/// Counts the layers that are computed as the mapping says, instead of as the build would choose.
std::map<std::string, int> layers_by_variant(const MappedModel& model) {
  std::map<std::string, int> counts;
  for (const LayerVariant variant : model.variant_of)
    if (model.pinned && variant != LayerVariant::kByCost) ++counts[variant_name(variant)];
  return counts;
}

std::string division_text(const MapReport& report, const MappedModel& model) {
  std::string text;
  for (const auto& [backend, count] : operators_by_backend(model))
    text += (text.empty() ? "" : ", ") + report.backends[static_cast<size_t>(backend)] + " " +
            std::to_string(count);
  for (const auto& [variant, count] : layers_by_variant(model))
    text += ", " + std::to_string(count) + " " + variant;
  return text;
}

/// By which models are compared: the rounds that choose do not count, as they flatter what they choose.
double compared_us(const MapReport& report, const MappedModel& model) {
  return report.predicted ? model.modelled_us : model.verified.us;
}

/// "measured": by running devices side by side; "computed": from kernels timed alone; "": nothing overlaps.
std::string overlap_of(const MapReport& report) {
  if (report.objective == MapObjective::kSerial || report.objective == MapObjective::kEnergy) return "";
  return report.overlap_measured ? "measured" : "computed";
}

const char* unit_of(const MapReport& report) {
  return report.objective == MapObjective::kEnergy ? "uJ" : "us";
}

/// How the chosen mapping compares with the best single backend.
std::string comparison_text(const MapReport& report) {
  const MappedModel& single = report.best_single();
  const bool energy = report.objective == MapObjective::kEnergy;
  if (report.choice.chosen == report.choice.best_single)
    return single.name + (energy ? " alone needs the least energy" : " alone is the fastest");
  std::string text =
      report.best().name +
      (energy ? " needs " + digits(1 / report.speedup(), 3) + " of the energy of the best single backend, "
              : " is " + digits(report.speedup(), 3) + "x as fast as the best single backend, ") +
      single.name;
  if (report.choice.plus_minus)
    text += " (+-" + digits(100 * *report.choice.plus_minus, 1) + " %), by " +
            std::to_string(report.best().verified.rounds_us.size()) +
            " rounds of both that were measured after it was chosen";
  return text;
}

/// What the objective's times are, where they are not those of a run one after the other.
std::string objective_text(const MapReport& report) {
  if (report.objective == MapObjective::kSerial) return "";
  if (report.objective == MapObjective::kEnergy)
    return "  energy: of the whole machine while it runs the model, per run\n";
  std::string how = "; kernels are timed, their overlap is computed\n";
  if (report.overlap_measured) {
    how = "; runs are timed\n";
    if (report.overlap_share < 1)
      how += "  prices: " + digits(100 * report.overlap_share, 0) +
             " % of what could overlap does, as the mappings measured show\n";
  }
  return (report.objective == MapObjective::kLatency
              ? "  times: of one input with devices and links side by side"
              : "  times: per input of a stream, devices and links side by side") +
         how;
}

/// A line for each queue: '#' where it is busy for most of a column's time, '+' where for some of it.
std::string timeline_text(const std::string& name, const PlanQueues& queues) {
  constexpr int kColumns = 60;
  std::string text = "\n  " + name + ", one input: " + microseconds(queues.latency_us) +
                     " us from left to right, the busiest works for " + microseconds(queues.interval_us) +
                     " us (computed)\n";
  const double column_us = queues.latency_us / kColumns;
  for (const PlanQueue& queue : queues.queues) {
    std::string drawn;
    for (int column = 0; column < kColumns; ++column) {
      double busy = 0;
      for (const auto& [begin, end] : queue.spans)
        busy += std::max(0.0, std::min(end, (column + 1) * column_us) - std::max(begin, column * column_us));
      drawn += busy > 0.5 * column_us ? '#' : busy > 0 ? '+' : '.';
    }
    text += "    " + left(queue.name, 30) + right(microseconds(queue.busy_us), 10) + " us  " + drawn + "\n";
  }
  return text;
}

}  // namespace

std::string map_table(const MapReport& report) {
  std::string text = left("", 2) + left("who computes it", 18) + right("regions", 8) +
                     right(std::string("modelled ") + unit_of(report), 13) +
                     right(std::string("measured ") + unit_of(report), 13) +
                     right(std::string("verified ") + unit_of(report), 13) + right("speed-up", 10) +
                     "  operators\n";
  const double base = compared_us(report, report.best_single());
  for (size_t i = 0; i < report.models.size(); ++i) {
    const MappedModel& model = report.models[i];
    text += (i == report.choice.chosen ? "* " : "  ") + left(model.name, 18);
    if (!model.why_not.empty()) {
      text += "  " + model.why_not + "\n";
      continue;
    }
    const double us = compared_us(report, model);
    text += right(std::to_string(model.regions), 8) + right(microseconds(model.modelled_us), 13) +
            right(microseconds(model.measured.us), 13) + right(microseconds(model.verified.us), 13) +
            right(us > 0 ? digits(base / us, 3) + "x" : "-", 10) + "  " + division_text(report, model) + "\n";
  }
  text += "\n";
  const MappedModel& best = report.best();
  text += "  " + comparison_text(report);
  text += report.predicted ? ", predicted, not measured, of " + report.machine + "\n" : "\n";
  if (report.bound_us > 0)
    text += "  by the prices no mapping takes less than " + microseconds(report.bound_us) + " " +
            unit_of(report) + " (" + report.method + ")\n";
  if (report.without_links_us > 0)
    text += "  a mapping that ignores the cost of copies would take " +
            microseconds(report.without_links_us) + " us\n";
  text += objective_text(report);
  for (const MapLink& link : report.links)
    text += "  link " + link.from + " to " + link.to + ": " + microseconds(link.latency_us) + " us, " +
            digits(link.gbytes_per_s, 1) + " GB/s\n";
  text += "  " + digits(report.build_s, 1) + " s building, " + digits(report.measure_s, 1) +
          " s measuring, " + digits(report.search_s, 2) + " s searching\n";
  for (const std::string& note : report.notes) text += "  note: " + note + "\n";
  if (!overlap_of(report).empty() && report.queues.latency_us > 0)
    text += timeline_text(best.name, report.queues);
  if (!report.partial.empty()) text += "  " + report.partial + ": what was found until then is reported\n";
  return text;
}

namespace {

/// In three digits: "0.0316", "12", "100".
std::string factor_text(double factor) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", factor);
  return text;
}

/// What stands above the factors, in two lines.
std::pair<const char*, const char*> sweep_heading(SweepOf of) {
  switch (of) {
    case SweepOf::kLink:
      return {"links so many", "times as fast"};
    case SweepOf::kDevices:
      return {"so many of", "each device"};
    case SweepOf::kMemory:
      return {"memory so many", "times as large"};
    case SweepOf::kCompute:
      return {"devices so many", "times as fast"};
  }
  return {"", ""};
}

}  // namespace

std::string sweep_table(const MapSweep& sweep) {
  const auto [above, below] = sweep_heading(sweep.of);
  std::string text = std::string("\n  ") + above + "\n" + left(std::string("  ") + below, 17) +
                     "best single us   best mapping us   speed-up   moved\n";
  for (const SweepPoint& point : sweep.points) {
    text += right(factor_text(point.factor), 15) + right(microseconds(point.best_single_us), 17) +
            right(microseconds(point.best_us), 18) + right(digits(point.speedup(), 3) + "x", 11) +
            right(std::to_string(point.moved), 8) + "  " +
            std::string(static_cast<size_t>(std::clamp(20 * (point.speedup() - 1), 0.0, 40.0)), '#') + "\n";
  }
  if (!sweep.note.empty()) text += "  note: " + sweep.note + "\n";
  if (!sweep.partial.empty()) text += "  " + sweep.partial + ": later points are missing\n";
  return text;
}

Json sweep_json(const MapReport& report, const MapSweep& sweep) {
  Json json{{"base_us", sweep.base_us},
            {"note", sweep.note},
            {"partial", sweep.partial},
            {"points", Json::array()}};
  for (const SweepPoint& point : sweep.points) {
    Json row{{"factor", point.factor},
             {"best_us", point.best_us},
             {"best_single", point.best_single},
             {"best_single_us", point.best_single_us},
             {"speedup", point.speedup()},
             {"moved", point.moved},
             {"transfers", point.transfers.count},
             {"transfer_bytes", point.transfers.bytes},
             {"transfer_us", point.transfers.us},
             {"backend_us", Json::object()},
             {"backend_of", point.backend_of}};
    for (size_t b = 0; b < point.backend_us.size(); ++b)
      row["backend_us"][report.backends[b]] = point.backend_us[b];
    json["points"].push_back(std::move(row));
  }
  return json;
}

namespace {

/// Modules with what they cost where they are placed, each before those that it holds; "": the model.
Json modules_json(const MapResult& result) {
  struct Cost {
    double us = 0;
    std::map<std::string, double> by_backend;
  };
  std::map<std::string, Cost> modules;
  for (const MappedOperator& each : result.report.mapping.operators) {
    if (each.us <= 0 || each.id >= result.origins.operators.size()) continue;
    std::string path = result.origins.operators[each.id].module;
    while (true) {
      Cost& cost = modules[path];
      cost.us += each.us, cost.by_backend[each.backend] += each.us;
      if (path.empty()) break;
      const size_t at = path.rfind('/');
      path = at == path.npos ? std::string() : path.substr(0, at);
    }
  }
  Json rows = Json::array();
  for (const auto& [path, cost] : modules) {
    Json row{{"module", path}, {"us", cost.us}, {"backend_us", Json::object()}};
    for (const auto& [backend, us] : cost.by_backend) row["backend_us"][backend] = us;
    rows.push_back(std::move(row));
  }
  return rows;
}

Json known_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

}  // namespace

Json map_json(const MapResult& result, const std::vector<MapSweep>& sweeps) {
  const MapReport& report = result.report;
  Json json{{"schema", kMapReportSchema},
            {"model", report.model},
            {"machine", report.machine},
            {"threads", report.threads},
            {"backends", report.backends},
            {"predicted", report.predicted},
            {"chosen", report.best().name},
            {"best_single", report.best_single().name},
            {"speedup", report.speedup()},
            {"plus_minus", known_or_null(report.choice.plus_minus)},
            {"bound_us", report.bound_us},
            {"without_links_us", report.without_links_us},
            {"method", report.method},
            {"objective", objective_name(report.objective)},
            {"unit", unit_of(report)},
            {"overlap", overlap_of(report)},
            {"overlap_share", report.overlap_share},
            {"queues", Json::array()},
            {"search_s", report.search_s},
            {"build_s", report.build_s},
            {"measure_s", report.measure_s},
            {"partial", report.partial},
            {"notes", report.notes},
            {"models", Json::array()},
            {"links", Json::array()}};
  for (const MappedModel& model : report.models) {
    Json row{{"name", model.name},
             {"single", model.single},
             {"regions", model.regions},
             {"modelled_us", model.modelled_us},
             {"measured_us", model.measured.us},
             {"computed_us", model.computed_us},
             {"serial_us", model.serial_us},
             {"rounds_us", model.measured.rounds_us},
             {"plus_minus_us", known_or_null(model.measured.plus_minus_us)},
             {"verified_us", model.verified.us},
             {"verified_rounds_us", model.verified.rounds_us},
             {"under_load", model.measured.under_load},
             {"why_not", model.why_not},
             {"operators", Json::object()},
             {"variants", layers_by_variant(model)}};
    for (const auto& [backend, count] : operators_by_backend(model))
      row["operators"][report.backends[static_cast<size_t>(backend)]] = count;
    json["models"].push_back(std::move(row));
  }
  for (const PlanQueue& queue : report.queues.queues) {
    Json spans = Json::array();
    for (const auto& [begin, end] : queue.spans) spans.push_back({begin, end});
    json["queues"].push_back({{"name", queue.name},
                              {"busy_us", queue.busy_us},
                              {"spans", std::move(spans)},
                              {"operators", queue.operators}});
  }
  for (const MapLink& link : report.links)
    json["links"].push_back({{"from", link.from},
                             {"to", link.to},
                             {"latency_us", link.latency_us},
                             {"gbytes_per_s", link.gbytes_per_s}});
  for (const MapSweep& sweep : sweeps) json["sweeps"][sweep_name(sweep.of)] = sweep_json(report, sweep);
  json["modules"] = modules_json(result);
  json["mapping"] = mapping_value(report.mapping);
  return json;
}

}  // namespace baton
