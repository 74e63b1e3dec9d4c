#include "baton/profile/write/page.h"

#include <cmath>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "baton/profile/write/report_json.h"
#include "baton/support/error.h"
#include "baton/text/html.h"

namespace baton {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostSamples = 64;  // the maximum for a strip in the details

/// Rounds to six digits: more than any clock resolves, and a third of the characters.
double rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return std::strtod(text, nullptr);
}

bool says_nothing(const Json& value) {
  return value.is_null() || ((value.is_array() || value.is_object() || value.is_string()) && value.empty());
}

/// Drops empty values and rounds times. Attributes are kept: there "" and [] are values.
void compact(Json& json) {
  if (json.is_number_float()) json = rounded(json.get<double>());
  if (json.is_array())
    for (Json& each : json) compact(each);
  if (!json.is_object()) return;
  Json kept = Json::object();
  for (auto& [key, value] : json.items()) {
    if (key != "attrs" && key != "params") compact(value);
    if (!says_nothing(value)) kept[key] = std::move(value);
  }
  json = std::move(kept);
}

/// Thins samples evenly, keeping their order.
void thin(Json& samples) {
  if (samples.size() <= kMostSamples) return;
  Json kept = Json::array();
  for (size_t i = 0; i < kMostSamples; ++i)
    kept.push_back(samples[i * (samples.size() - 1) / (kMostSamples - 1)]);
  samples = std::move(kept);
}

Json data_of(const ProfileReport& report) {
  Json json = to_json(report);
  thin(json["end_to_end_us"]["samples"]);
  thin(json["profiled_us"]["samples"]);
  for (Json& kernel : json["kernels"]) thin(kernel["samples"]);
  compact(json);
  return json;
}

/// Escapes JSON for <script>: "<" occurs in strings only, where it can be escaped. Invalid UTF-8 (possible in
/// names) is replaced.
std::string script_text(const Json& json) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

std::string filled(const std::string& title, const Json& reports) {
  const std::string_view text = page_template();
  const size_t at_title = text.find("@title@"), at_data = text.find("@data@");
  BATON_CHECK(at_title < at_data && at_data != std::string_view::npos);
  std::string out(text.substr(0, at_title));
  out += html_escaped(title);
  out += text.substr(at_title + 7, at_data - at_title - 7);
  out += script_text(reports);
  out += text.substr(at_data + 6);
  return out;
}

}  // namespace

std::string page(const ProfileReport& report) {
  return filled(report.model + ": Baton profile", Json::array({data_of(report)}));
}

std::string page(const ProfileReport& before, const ProfileReport& after) {
  const std::string names = before.model == after.model ? after.model : before.model + " and " + after.model;
  return filled(names + ": difference of two Baton profiles", Json::array({data_of(before), data_of(after)}));
}

}  // namespace baton
