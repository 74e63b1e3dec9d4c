#include "baton/page/fill.h"

#include <cstdio>
#include <cstdlib>

#include "baton/support/error.h"
#include "baton/support/json.h"
#include "baton/text/html.h"

namespace baton {
namespace {

double rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return std::strtod(text, nullptr);
}

bool says_nothing(const Json& value) {
  return value.is_null() || ((value.is_array() || value.is_object() || value.is_string()) && value.empty());
}

/// Without empty values, with rounded times. Attributes are kept: there "" and [] are values.
Json compact(const Json& json) {
  if (json.is_number_float()) return rounded(json.get<double>());
  Json kept = json.is_object() ? Json::object() : Json::array();
  if (json.is_array()) {
    for (const Json& each : json) kept.push_back(compact(each));
  } else if (json.is_object()) {
    for (const auto& [key, value] : json.items()) {
      Json own = key == "attrs" || key == "params" ? value : compact(value);
      if (!says_nothing(own)) kept[key] = std::move(own);
    }
  } else {
    return json;
  }
  return kept;
}

/// Escapes JSON for <script>: "<" occurs in strings only, where it can be escaped.
std::string script_text(const Json& json) {
  const std::string text = json.dump(-1, JsonUtf8::kReplace);
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

std::string filled_page(std::string_view page, const std::string& title, const Json& data) {
  const size_t at_title = page.find("@title@"), at_data = page.find("@data@");
  BATON_CHECK(at_title < at_data && at_data != std::string_view::npos);
  std::string out(page.substr(0, at_title));
  out += html_escaped(title);
  out += page.substr(at_title + 7, at_data - at_title - 7);
  out += script_text(compact(data));
  out += page.substr(at_data + 6);
  return out;
}

}  // namespace baton
