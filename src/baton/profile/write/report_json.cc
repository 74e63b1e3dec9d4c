#include "baton/profile/write/report_json.h"

#include <algorithm>

#include "baton/support/error.h"

namespace baton {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kReportSchema = 1;

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json json_of(const OperatorRow& row) {
  return {{"id", row.id},
          {"op", row.op},
          {"line", row.line},
          {"column", row.column},
          {"source", or_null(row.source)},
          {"attrs", row.attrs},
          {"type", row.type},
          {"inputs", row.inputs},
          {"nodes", row.nodes},
          {"folded_into", row.folded_into},
          {"fused_with", row.fused_with},
          {"not_fused", or_null(row.not_fused)},
          {"inside_us", or_null(row.inside_us)},
          {"unfused_us", or_null(row.unfused_us)},
          {"retired", row.retired_by.empty() ? Json(nullptr)
                                             : Json{{"pass", row.retired_by}, {"reason", row.retired_why}}}};
}

Json json_of(const InsideRow& part) {
  return {{"id", part.ids.empty() ? Json(nullptr) : Json(part.ids.front())},
          {"ids", part.ids},
          {"label", part.label.empty() ? "load, store, loop" : part.label},
          {"rest", part.rest},
          {"stage", part.stage},
          {"share", part.share},
          {"us", part.us},
          {"method", method_name(part.method)},
          {"below_noise", part.below_noise}};
}

Json json_of(const KernelRow& row, const std::string& target) {
  Json inside = Json::array();
  for (const InsideRow& part : row.inside) inside.push_back(json_of(part));
  Json json{{"node", row.node},
            {"name", row.name},
            {"func_name", row.func_name},
            {"target", target},
            {"median_us", row.median_us},
            {"share", row.share},
            {"samples", row.samples_us},
            {"inputs", row.inputs},
            {"origins", row.origins},
            {"made_for", row.made_for},
            {"reason", or_null(row.reason)},
            {"inside", std::move(inside)},
            {"stage_sum", row.stage_sum},
            {"noise", row.noise},
            {"trusted", row.trusted},
            {"flops", row.flops},
            {"bytes", row.bytes},
            {"dtype", row.roofline.dtype},
            {"intensity", row.roofline.intensity},
            {"gflops", row.roofline.gflops},
            {"gbytes_per_s", row.roofline.gbytes_per_s},
            {"roofline", row.roofline.bound.empty() ? Json(nullptr) : Json(row.roofline.share)},
            {"bound", or_null(row.roofline.bound)},
            {"nominal", row.roofline.nominal},
            {"cv", row.cv}};
  if (!row.region.empty()) json.update({{"compiler", row.compiler}, {"region", row.region}});
  if (row.load_threads > 1) {
    Json stages = Json::array();
    for (const LoadRow& load : row.loads)
      stages.push_back({{"stage", load.stage}, {"ids", load.ids}, {"busy_us", load.busy_us}});
    json["on_threads"] = {{"threads", row.load_threads},
                          {"us", row.threads_us},
                          {"utilisation", row.utilisation},
                          {"stages", std::move(stages)}};
  }
  if (!row.inside_notes.empty()) json["inside_notes"] = row.inside_notes;
  return json;
}

Json json_of(const UnfusedRow& row) {
  return {{"name", row.name},           {"origins", row.origins}, {"made_for", row.made_for},
          {"median_us", row.median_us}, {"flops", row.flops},     {"bytes", row.bytes}};
}

std::string text_of(const Json& json, const char* key) {
  const auto at = json.find(key);
  return at == json.end() || at->is_null() ? "" : at->get<std::string>();
}

std::optional<double> number_of(const Json& json, const char* key) {
  const auto at = json.find(key);
  return at == json.end() || at->is_null() ? std::nullopt : std::optional(at->get<double>());
}

double added(const Json& json, const char* key) { return number_of(json, key).value_or(0); }

using Ids = std::vector<uint32_t>;
Ids ids_of(const Json& json, const char* key) { return json.value(key, Ids{}); }

OperatorRow operator_of(const Json& json) {
  OperatorRow row;
  row.id = json.at("id");
  row.op = json.at("op");
  row.line = json.at("line");
  row.column = json.at("column");
  row.source = text_of(json, "source");
  row.attrs = json.at("attrs");
  row.type = text_of(json, "type");
  row.inputs = ids_of(json, "inputs");
  row.nodes = ids_of(json, "nodes");
  row.folded_into = ids_of(json, "folded_into");
  row.fused_with = ids_of(json, "fused_with");
  row.not_fused = text_of(json, "not_fused");
  row.inside_us = number_of(json, "inside_us");
  row.unfused_us = number_of(json, "unfused_us");
  if (const Json& retired = json.at("retired"); !retired.is_null()) {
    row.retired_by = text_of(retired, "pass");
    row.retired_why = text_of(retired, "reason");
  }
  return row;
}

InsideRow part_of(const Json& json) {
  InsideRow part;
  part.ids = ids_of(json, "ids");
  part.rest = json.at("rest");
  part.label = json.at("label");
  if (part.label == "load, store, loop") part.label.clear();
  part.stage = json.at("stage");
  part.share = json.at("share");
  part.us = json.at("us");
  part.method = method_named(json.at("method").get<std::string>());
  part.below_noise = json.at("below_noise");
  return part;
}

KernelRow kernel_of(const Json& json) {
  KernelRow row;
  row.node = json.at("node");
  row.name = json.at("name");
  row.func_name = json.at("func_name");
  row.median_us = json.at("median_us");
  row.share = json.at("share");
  row.samples_us = json.at("samples").get<std::vector<double>>();
  row.inputs = ids_of(json, "inputs");
  row.origins = ids_of(json, "origins");
  row.made_for = ids_of(json, "made_for");
  row.reason = text_of(json, "reason");
  for (const Json& part : json.at("inside")) row.inside.push_back(part_of(part));
  row.stage_sum = json.at("stage_sum");
  row.noise = json.at("noise");
  row.trusted = json.at("trusted");
  row.flops = json.at("flops");
  row.bytes = json.at("bytes");
  row.compiler = text_of(json, "compiler");
  row.region = text_of(json, "region");
  if (json.contains("on_threads")) {
    const Json& on = json.at("on_threads");
    row.load_threads = on.at("threads");
    row.threads_us = on.at("us");
    row.utilisation = on.at("utilisation");
    for (const Json& stage : on.at("stages"))
      row.loads.push_back({stage.at("stage"), ids_of(stage, "ids"), stage.at("busy_us")});
  }
  if (json.contains("inside_notes"))
    row.inside_notes = json.at("inside_notes").get<std::vector<std::string>>();
  // Fields that came after the first profiles of this schema were written: those are read without them.
  row.roofline = {text_of(json, "dtype"),      added(json, "intensity"), added(json, "gflops"),
                  added(json, "gbytes_per_s"), added(json, "roofline"),  text_of(json, "bound"),
                  json.value("nominal", false)};
  row.cv = added(json, "cv");
  return row;
}

Json peaks_json(const DeviceSheet& sheet) {
  return {{"name", sheet.name},
          {"gflops", sheet.peaks->gflops},
          {"gbytes_per_s", sheet.peaks->gbytes_per_s},
          {"cache_gbytes_per_s", sheet.peaks->cache_gbytes_per_s},
          {"cache_bytes", sheet.peaks->cache_bytes}};
}

/// As far as a report says what the device is.
DeviceSheet device_of(const Json& json) {
  DeviceSheet sheet;
  sheet.name = json.at("name");
  sheet.peaks = DevicePeaks{.gflops = json.at("gflops"),
                            .gbytes_per_s = json.at("gbytes_per_s"),
                            .cache_gbytes_per_s = json.at("cache_gbytes_per_s"),
                            .cache_bytes = added(json, "cache_bytes")};
  return sheet;
}

UnfusedRow unfused_of(const Json& json) {
  return {json.at("name"),      ids_of(json, "origins"), ids_of(json, "made_for"),
          json.at("median_us"), json.at("flops"),        json.at("bytes")};
}

ProfileReport report_of(const Json& json) {
  ProfileReport report;
  report.model = json.at("model");
  report.target = json.at("target");
  report.threads = json.at("threads");
  report.version = json.at("version");
  report.opt_level = json.at("opt_level").is_null() ? -1 : json.at("opt_level").get<int>();
  report.source = text_of(json, "source");
  report.plain_us = json.at("end_to_end_us").at("samples").get<std::vector<double>>();
  report.end_to_end_us = json.at("end_to_end_us").at("median");
  report.profiled_us = json.at("profiled_us").at("samples").get<std::vector<double>>();
  report.sum_us = json.at("sum_us");
  report.cv = json.at("cv");
  report.load = json.at("load");
  report.others_busy = added(json, "others_busy");
  for (const Json& row : json.at("operators")) report.operators.push_back(operator_of(row));
  for (const Json& row : json.at("kernels")) report.kernels.push_back(kernel_of(row));
  for (const auto& [name, row] : json.at("functions").items())
    report.functions[name] = {row.at("relay"), row.at("template"), row.at("params").get<KernelParams>()};
  for (const Json& row : json.at("unfused").at("kernels")) report.unfused.push_back(unfused_of(row));
  report.unfused_us = json.at("unfused").at("end_to_end_us");
  if (const Json& peaks = json.at("peaks"); !peaks.is_null()) report.device = device_of(peaks);
  report.notes = json.at("notes").get<std::vector<std::string>>();
  return report;
}

// Ids index the rows: one that is out of range would be found only when it is looked up.
void check_ids(const ProfileReport& report) {
  const auto check = [&](const Ids& ids) {
    for (uint32_t id : ids)
      if (id >= report.operators.size())
        throw Error("operator " + std::to_string(id) + " is named, but there are " +
                    std::to_string(report.operators.size()));
  };
  for (size_t i = 0; i < report.operators.size(); ++i) {
    const OperatorRow& row = report.operators[i];
    if (row.id != i)
      throw Error("operator " + std::to_string(row.id) + " stands at place " + std::to_string(i));
    check(row.inputs);
    check(row.fused_with);
  }
  for (const KernelRow& row : report.kernels) {
    check(row.origins);
    check(row.made_for);
    for (const InsideRow& part : row.inside) check(part.ids);
  }
  for (const UnfusedRow& row : report.unfused) {
    check(row.origins);
    check(row.made_for);
  }
}

}  // namespace

Json to_json(const ProfileReport& report) {
  Json json{
      {"schema", kReportSchema},
      {"model", report.model},
      {"target", report.target},
      {"threads", report.threads},
      {"version", report.version},
      {"opt_level", report.opt_level < 0 ? Json(nullptr) : Json(report.opt_level)},
      {"source", or_null(report.source)},
      {"end_to_end_us",
       {{"median", report.end_to_end_us},
        {"min",
         report.plain_us.empty() ? 0 : *std::min_element(report.plain_us.begin(), report.plain_us.end())},
        {"samples", report.plain_us}}},
      {"profiled_us", {{"median", median(report.profiled_us)}, {"samples", report.profiled_us}}},
      {"sum_us", report.sum_us},
      {"residual_us", report.residual_us()},
      {"overhead", report.overhead()},
      {"cv", report.cv},
      {"load", report.load},
      {"others_busy", report.others_busy},
      {"notes", report.notes},
      {"peaks", nullptr},
      {"operators", Json::array()},
      {"kernels", Json::array()},
      {"functions", Json::object()},
      {"unfused", {{"end_to_end_us", report.unfused_us}, {"kernels", Json::array()}}}};
  if (report.device) json["peaks"] = peaks_json(*report.device);
  for (const OperatorRow& row : report.operators) json["operators"].push_back(json_of(row));
  for (const KernelRow& row : report.kernels) json["kernels"].push_back(json_of(row, report.target));
  for (const auto& [name, row] : report.functions)
    json["functions"][name] = {{"relay", row.relay}, {"template", row.template_name}, {"params", row.params}};
  for (const UnfusedRow& row : report.unfused) json["unfused"]["kernels"].push_back(json_of(row));
  return json;
}

ProfileReport read_report(const std::string& text, const std::string& shown) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object() || !json.contains("kernels") || !json.contains("operators"))
    throw Error(shown + " is no profile: what `baton profile MODEL --json` prints is expected");
  const auto schema = json.find("schema");
  if (schema == json.end() || *schema != kReportSchema)
    throw Error(shown + " has schema " + (schema == json.end() ? "none" : schema->dump()) +
                ", this Baton reads schema " + std::to_string(kReportSchema) +
                ": make the profile anew with this version");
  try {
    for (const char* key : {"operators", "kernels"})  // null would be read as an empty list
      if (!json[key].is_array()) throw Error(std::string("its ") + key + " are no list");
    ProfileReport report = report_of(json);
    check_ids(report);
    return report;
  } catch (const Json::exception& error) {
    throw Error(shown + " is damaged, or a profile of another version of Baton (" +
                (json.contains("version") ? json["version"].dump() : "unknown") + "): " + error.what());
  } catch (const Error& error) {
    throw Error(shown + " is damaged: " + error.what());
  }
}

}  // namespace baton
