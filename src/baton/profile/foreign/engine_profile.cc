#include "baton/profile/foreign/engine_profile.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <sstream>
#include <unordered_map>

#include "baton/frontend/onnx/model_file.h"
#include "baton/support/json.h"

namespace baton {

namespace {

constexpr std::string_view kKernelTime = "_kernel_time";
constexpr std::string_view kCsvHead = "layerName;execStatus";

/// Rows by what the engine calls them, with the time of each run.
class Rows {
 public:
  explicit Rows(size_t runs) : runs_(runs) {}

  EngineRow& row(const std::string& name) {
    const auto [at, is_new] = index_.try_emplace(name, rows_.size());
    if (is_new) rows_.push_back({name, "", "", std::vector<double>(runs_), {}, {}, {}});
    return rows_[at->second];
  }
  std::vector<EngineRow> take() { return std::move(rows_); }

 private:
  size_t runs_;
  std::unordered_map<std::string, size_t> index_;
  std::vector<EngineRow> rows_;
};

// ---- ONNX Runtime: one event per step, those of branches and loops within their node's.

struct Event {
  std::string name;
  double begin = 0, end = 0, inner = 0;
  const Json* args = nullptr;
};

struct Span {
  double begin = 0, end = 0;
};

/// What steps inside a step took is taken off it: the body of a loop counts once.
void subtract_inner(std::vector<Event>& events) {
  // The outer one of two that begin together comes first.
  std::ranges::stable_sort(events, [](const Event& a, const Event& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::vector<Event*> open;
  for (Event& event : events) {
    while (!open.empty() && open.back()->end < event.end) open.pop_back();
    if (!open.empty()) open.back()->inner += event.end - event.begin;
    open.push_back(&event);
  }
}

EngineProfile read_events(const Json& json) {
  EngineProfile profile{"onnxruntime", "", 0, {}, {}};
  std::vector<Span> runs;
  std::map<int64_t, std::vector<Event>> threads;  // of different threads none is inside another
  for (const Json& each : json) {
    if (!each.is_object() || !each.contains("cat") || !each.contains("dur")) continue;
    const std::string name = each.at("name").get<std::string>();
    const double begin = each.at("ts").get<double>(), end = begin + each.at("dur").get<double>();
    if (name == "model_run") runs.push_back({begin, end});
    if (each.at("cat").get<std::string>() != "Node" || !name.ends_with(kKernelTime)) continue;
    threads[each.at("tid").get<int64_t>()].push_back(
        {name.substr(0, name.size() - kKernelTime.size()), begin, end, 0, &each.at("args")});
  }
  std::ranges::sort(runs, {}, &Span::begin);
  // The first run of several prepares weights and memory.
  if (runs.size() > 1) runs.erase(runs.begin());
  for (const Span& run : runs) profile.runs_us.push_back(run.end - run.begin);
  Rows rows(std::max<size_t>(runs.size(), 1));
  for (auto& [thread, events] : threads) {
    subtract_inner(events);
    for (const Event& event : events) {
      size_t run = 0;
      if (!runs.empty()) {
        const auto after = std::ranges::upper_bound(runs, event.begin, {}, &Span::begin);
        if (after == runs.begin() || event.end > std::prev(after)->end) continue;
        run = static_cast<size_t>(after - runs.begin() - 1);
      }
      EngineRow& row = rows.row(event.name);
      row.samples_us[run] += event.end - event.begin - event.inner;
      row.op = event.args->value("op_name", "");
      row.implementation = event.args->value("provider", "");
    }
  }
  profile.rows = rows.take();
  return profile;
}

// ---- OpenVINO.

/// Of benchmark_app, whose counters are the mean of all runs.
EngineProfile read_counters(const Json& json) {
  EngineProfile profile{"openvino", "", 0, {}, {}};
  const Json& reports = json.at("detailed_performance");
  if (reports.size() == 0) return profile;
  Rows rows(1);
  for (const Json& node : reports.at(0).at("nodes")) {
    EngineRow& row = rows.row(node.at("name").get<std::string>());
    row.op = node.value("node_type", "");
    row.implementation = node.value("exec_type", "");
    row.samples_us[0] += node.at("real_time").get<double>() * 1e3;
  }
  profile.rows = rows.take();
  return profile;
}

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> all;
  std::istringstream parts(line);
  for (std::string cell; std::getline(parts, cell, ';');) all.push_back(cell);
  return all;
}

EngineProfile read_counters_csv(const std::string& text, const std::string& path) {
  EngineProfile profile{"openvino", "", 0, {}, {}};
  Rows rows(1);
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> head = cells(line);
  const auto column = [&](std::string_view name) {
    const auto at =
        std::ranges::find_if(head, [&](const std::string& each) { return each.starts_with(name); });
    if (at == head.end()) throw Error(path + ": its head has no column " + std::string(name));
    return static_cast<size_t>(at - head.begin());
  };
  const size_t name = column("layerName"), type = column("layerType"), how = column("execType"),
               time = column("realTime");
  const double to_us = head[time].find("(ms)") != std::string::npos ? 1e3 : 1;
  for (int number = 2; std::getline(lines, line); ++number) {
    const std::vector<std::string> row = cells(line);
    if (row.size() <= std::max({name, type, how, time}) || row[name] == "Total") continue;
    double value = 0;
    const auto [end, error] = std::from_chars(row[time].data(), row[time].data() + row[time].size(), value);
    if (error != std::errc())
      throw Error(path + ", line " + std::to_string(number) + ": `" + row[time] + "` is no time");
    EngineRow& one = rows.row(row[name]);
    one.op = row[type];
    one.implementation = row[how];
    one.samples_us[0] += value * to_us;
  }
  profile.rows = rows.take();
  return profile;
}

/// What bench/peers writes: {"engine", "version", "threads", "runs_us", "rows"}.
EngineProfile read_peer(const Json& json) {
  EngineProfile profile;
  json.at("engine").get_to(profile.engine);
  json.at("version").get_to(profile.version);
  json.at("threads").get_to(profile.threads);
  json.at("runs_us").get_to(profile.runs_us);
  for (const Json& each : json.at("rows")) {
    EngineRow row;
    each.at("name").get_to(row.name);
    each.at("op").get_to(row.op);
    each.at("implementation").get_to(row.implementation);
    each.at("samples_us").get_to(row.samples_us);
    each.at("members").get_to(row.members);
    profile.rows.push_back(std::move(row));
  }
  return profile;
}

std::optional<EngineProfile> read(const std::string& text, const std::string& path) {
  if (text.starts_with(kCsvHead)) return read_counters_csv(text, path);
  const Json json = Json::parse(text);
  if (json.is_array()) return read_events(json);
  if (!json.is_object()) return {};
  if (json.contains("detailed_performance")) return read_counters(json);
  if (json.contains("engine") && json.contains("rows")) return read_peer(json);
  return {};
}

}  // namespace

bool is_engine_profile(std::string_view text) {
  if (text.starts_with(kCsvHead)) return true;
  // The first names of each form; those of Baton's profiles are "schema" and "model".
  const std::string_view head = text.substr(0, 2000);
  const auto has = [&](std::string_view what) { return head.find(what) != std::string_view::npos; };
  return !has("\"schema\"") &&
         (has("\"cat\"") || has("\"engine\"") || has("\"detailed_performance\"") || has("\"report_type\""));
}

EngineProfile read_engine_profile(const std::string& text, const std::string& path) {
  std::optional<EngineProfile> profile;
  try {
    profile = read(text, path);
  } catch (const JsonError& error) {
    throw Error(path + ": " + error.what());
  }
  if (!profile)
    throw Error(
        path +
        ": is no profile that is known: ONNX Runtime's events, OpenVINO's counters, or one of Baton's");
  // Steps that did not run are those of constants.
  std::erase_if(profile->rows, [](const EngineRow& row) {
    return std::ranges::all_of(row.samples_us, [](double us) { return us == 0; });
  });
  if (profile->rows.empty()) throw Error(path + ": it has no step that took time");
  return *profile;
}

size_t add_optimized_model(EngineProfile& profile, const std::string& path) {
  const auto file = onnx::read_model_file(path);
  std::unordered_map<std::string_view, const onnx::NodeFile*> nodes;
  for (const onnx::NodeFile& node : file->graph.nodes) nodes.try_emplace(node.name, &node);
  size_t missing = 0;
  for (EngineRow& row : profile.rows) {
    const auto at = nodes.find(row.name);
    if (at == nodes.end()) {
      ++missing;
      continue;
    }
    row.outputs.assign(at->second->outputs.begin(), at->second->outputs.end());
    row.inputs.assign(at->second->inputs.begin(), at->second->inputs.end());
  }
  return missing;
}

}  // namespace baton
