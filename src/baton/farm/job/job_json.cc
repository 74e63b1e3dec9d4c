#include "baton/farm/job/job_json.h"

#include <cmath>
#include <limits>

#include "baton/support/error.h"
#include "baton/support/json.h"

namespace baton {
namespace {

constexpr int kLineFormat = 1;

/// A hundredth of a nanosecond is less than any clock tells, and keeps lines short.
double rounded(double us) { return std::round(us * 1e5) / 1e5; }

CacheState cache_state(const Json& json) {
  const std::string name = json.get<std::string>();
  const std::optional<CacheState> state = cache_state_named(name);
  if (!state) throw Error("there is no cache state \"" + name + "\"");
  return *state;
}

Protocol read_protocol(const Json& json) {
  Protocol protocol;
  protocol.min_samples = json.value("min_samples", protocol.min_samples);
  protocol.cv = json.value("cv", protocol.cv);
  protocol.max_seconds = json.value("max_seconds", protocol.max_seconds);
  protocol.warm_up_s = json.value("warm_up_s", protocol.warm_up_s);
  protocol.time_limit_s = json.value("time_limit_s", protocol.time_limit_s);
  protocol.nodes = json.value("nodes", protocol.nodes);
  protocol.alone = json.value("alone", protocol.alone);
  if (json.contains("caches")) {
    protocol.caches.clear();
    for (const Json& name : json["caches"]) protocol.caches.push_back(cache_state(name));
  }
  return protocol;
}

JobRow read_row(const Json& json) {
  JobRow row;
  row.node = json.at("node").get<std::string>();
  row.cache = cache_state(json.at("cache"));
  row.samples_us = json.at("samples_us").get<std::vector<double>>();
  row.disturbed = json.at("disturbed").get<std::vector<uint32_t>>();
  row.under_load = json.value("under_load", false);
  row.interrupted = json.value("interrupted", false);
  row.calls_per_sample = json.value("calls_per_sample", 1);
  row.load = json.value("load", 0.0);
  row.others_busy = json.value("others_busy", 0.0);
  row.core_ns = json.value("core_ns", 0.0);
  if (!std::isfinite(row.core_ns) || row.core_ns < 0) throw Error("a reading of the core that is no time");
  for (const uint32_t index : row.disturbed)
    if (index >= row.samples_us.size()) throw Error("a disturbed sample that there is not");
  for (const double us : row.samples_us)
    if (!std::isfinite(us) || us < 0) throw Error("a sample that is no time");
  return row;
}

DeviceSheet read_sheet(const Json& json) {
  std::optional<DeviceSheet> sheet = DeviceSheet::from_text(json.get<std::string>());
  if (!sheet) throw Error("a device sheet that cannot be read (of another version of Baton?)");
  return std::move(*sheet);
}

/// Runs `read` on the parsed line; what is wrong with it becomes one Error.
template <class Read>
auto read_line(const char* what, std::string_view line, Read&& read) {
  try {
    return read(Json::parse(line));
  } catch (const JsonError& error) {
    throw Error(std::string("not ") + what + ": " + error.what());
  } catch (const Error& error) {
    throw Error(std::string("not ") + what + ": " + error.what());
  }
}

/// Texts from kernels and drivers need not be UTF-8.
std::string dump(const Json& json) { return json.dump(-1, JsonUtf8::kReplace); }

}  // namespace

std::string job_line(const Job& job) {
  Json caches = Json::array();
  for (const CacheState state : job.protocol.caches) caches.push_back(cache_state_name(state));
  Json json = {{"id", job.id},
               {"bundle", job.bundle},
               {"threads", job.threads},
               {"protocol",
                {{"min_samples", job.protocol.min_samples},
                 {"cv", job.protocol.cv},
                 {"max_seconds", job.protocol.max_seconds},
                 {"warm_up_s", job.protocol.warm_up_s},
                 {"time_limit_s", job.protocol.time_limit_s},
                 {"caches", std::move(caches)},
                 {"nodes", job.protocol.nodes},
                 {"alone", job.protocol.alone}}}};
  if (!job.machine.empty()) json["machine"] = job.machine;
  return dump(json);
}

Job read_job(std::string_view line) {
  return read_line("a job", line, [](const Json& json) {
    Job job;
    job.id = json.at("id").get<std::string>();
    job.bundle = json.at("bundle").get<std::string>();
    job.threads = json.value("threads", 1);
    job.machine = json.value("machine", "");
    if (json.contains("protocol")) job.protocol = read_protocol(json["protocol"]);
    if (job.threads < 1 || job.protocol.min_samples < 1 || job.protocol.caches.empty())
      throw Error("it needs at least one thread, one sample and one state of the caches");
    return job;
  });
}

std::string result_line(const JobResult& result) {
  Json json = {{"id", result.id}, {"machine", result.machine}, {"sheet", result.device.text()}};
  if (!result.error.empty()) json["error"] = result.error;
  if (result.retry) json["retry"] = true;
  if (result.refused) json["refused"] = true;
  if (!result.note.empty()) json["note"] = result.note;
  Json& rows = json["rows"] = Json::array();
  for (const JobRow& row : result.rows) {
    std::vector<double> samples;
    for (const double us : row.samples_us) samples.push_back(rounded(us));
    rows.push_back({{"node", row.node},
                    {"cache", cache_state_name(row.cache)},
                    {"calls_per_sample", row.calls_per_sample},
                    {"load", row.load},
                    {"others_busy", row.others_busy},
                    {"core_ns", row.core_ns},
                    {"samples_us", std::move(samples)},
                    {"disturbed", row.disturbed}});
    if (row.under_load) rows.back()["under_load"] = true;
    if (row.interrupted) rows.back()["interrupted"] = true;
  }
  return dump(json);
}

JobResult read_result(std::string_view line) {
  return read_line("a result of a job", line, [](const Json& json) {
    JobResult result;
    result.id = json.at("id").get<std::string>();
    result.error = json.value("error", "");
    result.retry = json.value("retry", false);
    result.refused = json.value("refused", false);
    result.note = json.value("note", "");
    result.machine = json.value("machine", "");
    if (json.contains("sheet")) result.device = read_sheet(json["sheet"]);
    if (json.contains("rows"))
      for (const Json& row : json["rows"]) result.rows.push_back(read_row(row));
    if (result.rows.empty() && result.error.empty()) throw Error("neither rows nor why there are none");
    return result;
  });
}

std::string greeting_line(const WorkerMachine& machine) {
  return dump({{"baton_runner", kLineFormat},
               {"machine", machine.name},
               {"code_target", machine.sheet.code_target},
               {"plugins", machine.plugins},
               {"sheet", machine.sheet.text()}});
}

WorkerMachine read_greeting(std::string_view line) {
  return read_line("the greeting of a baton-runner", line, [](const Json& json) {
    const int format = json.at("baton_runner").get<int>();
    if (format != kLineFormat)
      throw Error("it speaks format " + std::to_string(format) + ", this Baton " +
                  std::to_string(kLineFormat) + ": install the same version of Baton on both machines");
    WorkerMachine machine;
    machine.name = json.at("machine").get<std::string>();
    machine.sheet = read_sheet(json.at("sheet"));
    machine.plugins = json.at("plugins").get<std::vector<std::string>>();
    return machine;
  });
}

}  // namespace baton
