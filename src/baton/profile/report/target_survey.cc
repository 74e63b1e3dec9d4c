#include "baton/profile/report/target_survey.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "baton/profile/report/device_rates.h"
#include "baton/profile/report/peaks.h"
#include "baton/support/base/checksum.h"
#include "baton/support/interrupt.h"
#include "baton/support/json.h"
#include "baton/support/version.h"
#include "baton/target/machine_name.h"

namespace baton {
namespace {

constexpr int kSchema = 1;
constexpr int64_t kKeptSeconds = 24 * 3600;
constexpr size_t kSmall = 64, kMegabyte = size_t{1} << 20;

Json json_of(const MaybeMeasured& measured) {
  if (!measured) return nullptr;
  return {{"median", measured->value}, {"spread", measured->spread}, {"samples", measured->samples}};
}

int64_t now_s() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

class Survey {
 public:
  Survey(const BuildContext& context, KernelCache& cache, const SurveyOptions& options)
      : context_(context), cache_(cache), options_(options) {
    context_.progress = nullptr;
    for (const BackendRef& backend : backends())
      if (backend->compile) targets_.push_back(find_target(backend, context_));
  }

  Json value() {
    const Json there = described();
    const KernelKey key = key_of(there);
    if (options_.measure && !options_.again)
      if (const auto kept = cache_.load_bytes(key, "targets")) {
        Json known = Json::parse_or_discard(*kept);
        const int64_t age = known.is_object() ? now_s() - known.value("measured_s", int64_t{0}) : -1;
        if (age >= 0 && age <= kKeptSeconds) return known;
      }
    if (!options_.measure) return there;
    Json all = measured(there);
    cache_.store_bytes(key, "targets", all.dump());
    return all;
  }

 private:
  /// All that is known without measuring.
  Json described() const {
    Json survey{{"schema", kSchema},           {"version", version()},
                {"host", machine_name()},      {"machine", context_.host().name},
                {"threads", options_.threads}, {"measured_s", nullptr},
                {"targets", Json::array()},    {"links", Json::array()}};
    for (const FoundTarget& target : targets_) {
      const Backend& backend = *target.backend;
      Json each{{"name", backend.name}, {"doc", backend.doc}, {"runs", target.why_not.empty()}};
      if (!target.why_not.empty()) each["why_not"] = target.why_not;
      if (target.why_not.empty() && !backend.kind.empty()) {
        const DeviceSheet sheet = backend.device ? backend.device(context_.host()) : context_.host();
        each["device"] = {{"name", target.device_name},
                          {"device_type", backend.device_type},
                          {"simulated", target.simulated},
                          {"memory_bytes", memory_of(target, sheet)}};
      }
      survey["targets"].push_back(std::move(each));
    }
    return survey;
  }

  /// As the driver says; of the host and of simulated devices as their sheets say.
  static Json memory_of(const FoundTarget& target, const DeviceSheet& sheet) {
    if (!target.simulated && target.device) {
      const uint64_t bytes = target.device->memory_bytes();
      return bytes > 0 ? Json(bytes) : Json(nullptr);
    }
    return sheet.memory_bytes > 0 ? Json(sheet.memory_bytes) : Json(nullptr);
  }

  KernelKey key_of(const Json& described) const {
    const std::string text = "targets 1/" + described.dump() + context_.host().text();
    return digest128(text.data(), text.size());
  }

  void step(const std::string& what) {
    stop_if_asked(options_.interrupt);
    if (options_.progress) options_.progress(what, done_++, steps_);
  }

  Json measured(Json survey) {
    std::vector<const FoundTarget*> devices;
    for (const FoundTarget& target : targets_)
      if (target.module && target.why_not.empty()) devices.push_back(&target);
    steps_ = static_cast<int>(devices.size() + devices.size() * (devices.size() - 1));
    for (size_t i = 0; i < targets_.size(); ++i) {
      const FoundTarget& target = targets_[i];
      if (!target.module || !target.why_not.empty()) continue;
      step(target.backend->name);
      survey["targets"][i]["device"]["measured"] = target.device ? rates_of(target) : rates_of_host(target);
    }
    for (const FoundTarget* from : devices)
      for (const FoundTarget* to : devices)
        if (from != to) add_link(survey["links"], *from, *to);
    survey["measured_s"] = now_s();
    return survey;
  }

  Json rates_of(const FoundTarget& target) {
    Json peaks = Json::object();
    for (const auto& [type, gops] : product_gops(target, context_)) peaks[type] = json_of(gops);
    return {{"peak_gops", std::move(peaks)},
            {"peak_is", target.simulated ? "that of the device sheet"
                                         : "of a product of two matrices of 512 x 512 by its own kernel"},
            {"memory_gbytes_per_s", json_of(memory_gbytes_per_s(target))},
            {"launch_us", json_of(launch_us(target))}};
  }

  /// The roofs that profiles have too: the same cache entry.
  Json rates_of_host(const FoundTarget& target) {
    Json rates{{"peak_gops", Json::object()},
               {"peak_is", "of multiply-adds in registers"},
               {"memory_gbytes_per_s", nullptr},
               {"launch_us", json_of(launch_us(target))}};
    std::string why;
    if (const auto sheet = measured_sheet(context_.host(), options_.threads, cache_, why)) {
      rates["peak_gops"]["float32"] = json_of(Measured{sheet->peaks->gflops, 0, 1});
      rates["memory_gbytes_per_s"] = json_of(Measured{sheet->peaks->gbytes_per_s, 0, 1});
    } else {
      rates["why_not"] = why;
    }
    return rates;
  }

  void add_link(Json& links, const FoundTarget& from, const FoundTarget& to) {
    step(from.backend->name + " to " + to.backend->name);
    const MaybeMeasured small = copy_us(from, to, kSmall);
    if (!small) return;
    const auto rate = [&](size_t bytes) {
      MaybeMeasured us = copy_us(from, to, bytes);
      if (us) us->value = static_cast<double>(bytes) / us->value / 1e3;
      return json_of(us);
    };
    links.push_back({{"from", from.backend->name},
                     {"to", to.backend->name},
                     {"simulated", from.simulated || to.simulated},
                     {"latency_us", json_of(small)},
                     {"gbytes_per_s_1mb", rate(kMegabyte)},
                     {"gbytes_per_s_64mb", rate(64 * kMegabyte)}});
  }

  BuildContext context_;
  KernelCache& cache_;
  const SurveyOptions& options_;
  std::vector<FoundTarget> targets_;
  int done_ = 0, steps_ = 0;
};

// ---- For people.

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value);
  return text;
}

/// "12.3 +-4 %"; "-" for what was not measured.
std::string shown(const Json& measured) {
  if (!measured.is_object()) return "-";
  std::string text = number(measured.at("median").get<double>());
  if (measured.at("samples").get<int>() > 1)
    text += " +-" + std::to_string(static_cast<int>(measured.at("spread").get<double>() * 50 + 0.5)) + "%";
  return text;
}

std::string padded(std::string text, size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

std::string bytes_text(const Json& bytes) {
  if (!bytes.is_number()) return "-";
  const double value = bytes.get<double>();
  return value >= 1 << 30 ? number(value / (1 << 30)) + " GB" : number(value / (1 << 20)) + " MB";
}

/// Columns as wide as their widest cell, two blanks between them; no line is longer than `width`.
std::string table(const std::vector<std::vector<std::string>>& rows, int width) {
  std::vector<size_t> widths;
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      if (i == widths.size()) widths.push_back(0);
      widths[i] = std::max(widths[i], row[i].size());
    }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) line += padded(row[i], widths[i] + 2);
    line.erase(line.find_last_not_of(' ') + 1);
    if (width > 0 && line.size() > static_cast<size_t>(width)) line.resize(static_cast<size_t>(width));
    text += line + "\n";
  }
  return text;
}

std::string peaks_text(const Json& measured) {
  std::string text;
  for (const auto& [type, gops] : measured.at("peak_gops").items())
    text += (text.empty() ? "" : ", ") + type + " " + shown(gops);
  return text.empty() ? "-" : text;
}

std::string targets_table(const Json& survey, int width) {
  const bool measured = !survey.at("measured_s").is_null();
  std::vector<std::vector<std::string>> rows{{"target", "device", "memory"}};
  if (measured) rows[0].insert(rows[0].end(), {"GB/s", "launch us", "Gop/s"});
  for (const Json& target : survey.at("targets")) {
    if (!target.at("runs").get<bool>()) continue;
    if (!target.contains("device")) {
      rows.push_back({target.at("name").get<std::string>(), "regions, in the memory of the host", "-"});
      continue;
    }
    const Json& device = target.at("device");
    rows.push_back({target.at("name").get<std::string>(), device.at("name").get<std::string>(),
                    bytes_text(device.at("memory_bytes"))});
    if (!device.contains("measured")) continue;
    const Json& rates = device.at("measured");
    rows.back().insert(rows.back().end(), {shown(rates.at("memory_gbytes_per_s")),
                                           shown(rates.at("launch_us")), peaks_text(rates)});
  }
  return table(rows, width);
}

}  // namespace

Json survey_targets(const BuildContext& context, KernelCache& cache, const SurveyOptions& options) {
  return Survey(context, cache, options).value();
}

std::string survey_text(const Json& survey, int width) {
  std::string text = targets_table(survey, width);
  std::string refused;
  for (const Json& target : survey.at("targets"))
    if (!target.at("runs").get<bool>())
      refused +=
          "  " + target.at("name").get<std::string>() + ": " + target.at("why_not").get<std::string>() + "\n";
  if (!refused.empty()) text += "\ncannot be used here:\n" + refused;
  if (survey.at("links").empty()) return text;
  std::vector<std::vector<std::string>> rows{
      {"from", "to", "latency us", "GB/s of 1 MB", "GB/s of 64 MB", ""}};
  for (const Json& link : survey.at("links"))
    rows.push_back({link.at("from").get<std::string>(), link.at("to").get<std::string>(),
                    shown(link.at("latency_us")), shown(link.at("gbytes_per_s_1mb")),
                    shown(link.at("gbytes_per_s_64mb")),
                    link.at("simulated").get<bool>() ? "simulated" : ""});
  return text + "\n" + table(rows, width);
}

}  // namespace baton
