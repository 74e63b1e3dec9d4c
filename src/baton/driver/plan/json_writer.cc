#include "baton/driver/plan/json_writer.h"

#include <cstdio>

namespace baton {

void JsonWriter::open(char bracket, bool multi_line) {
  text_ += bracket;
  scopes_.push_back({multi_line, 0});
}

void JsonWriter::close(char bracket) {
  const Scope scope = scopes_.back();
  scopes_.pop_back();
  if (scope.multi_line && scope.count > 0) line_break();
  text_ += bracket;
}

void JsonWriter::line_break() { text_ += "\n" + std::string(scopes_.size() * 2, ' '); }

void JsonWriter::separate() {
  if (scopes_.back().count++ > 0) text_ += ", ";
  if (scopes_.back().multi_line) line_break();
}

void JsonWriter::key(std::string_view name) {
  separate();
  value(name);
  text_ += ": ";
}

void JsonWriter::item() { separate(); }

void JsonWriter::value(std::string_view text) {
  text_ += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        text_ += "\\\"";
        break;
      case '\\':
        text_ += "\\\\";
        break;
      case '\n':
        text_ += "\\n";
        break;
      case '\r':
        text_ += "\\r";
        break;
      case '\t':
        text_ += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          char escaped[8];
          std::snprintf(escaped, sizeof escaped, "\\u%04x", c);
          text_ += escaped;
        } else {
          text_ += c;
        }
    }
  }
  text_ += '"';
}

void JsonWriter::value(int64_t number) { text_ += std::to_string(number); }

void JsonWriter::value(const std::vector<int64_t>& numbers) {
  begin_array(numbers.size() > 10);
  for (int64_t number : numbers) {
    item();
    value(number);
  }
  end_array();
}

void JsonWriter::value(const std::vector<std::string>& texts) {
  begin_array();
  for (const std::string& text : texts) {
    item();
    value(text);
  }
  end_array();
}

}  // namespace baton
