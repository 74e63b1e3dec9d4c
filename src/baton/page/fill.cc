#include "baton/page/fill.h"

#include <cstdio>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "baton/support/error.h"
#include "baton/text/html.h"

namespace baton {
namespace {

using Json = nlohmann::ordered_json;

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

/// Escapes JSON for <script>: "<" occurs in strings only, where it can be escaped.
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

}  // namespace

std::string filled_page(std::string_view page, const std::string& title, Json data) {
  const size_t at_title = page.find("@title@"), at_data = page.find("@data@");
  BATON_CHECK(at_title < at_data && at_data != std::string_view::npos);
  compact(data);
  std::string out(page.substr(0, at_title));
  out += html_escaped(title);
  out += page.substr(at_title + 7, at_data - at_title - 7);
  out += script_text(data);
  out += page.substr(at_data + 6);
  return out;
}

}  // namespace baton
