#include "baton/support/json_writer.h"

#include <charconv>

#include "baton/support/json.h"

namespace baton {

void JsonWriter::open(char bracket, bool multi_line) {
  text_ += bracket;
  scopes_.push_back({multi_line && indented_, true});
}

void JsonWriter::close(char bracket) {
  const Scope scope = scopes_.back();
  scopes_.pop_back();
  if (scope.multi_line && !scope.empty) indent();
  if (breaks_) text_ += '\n';
  breaks_ = false;
  text_ += bracket;
}

void JsonWriter::indent() {
  text_ += '\n';
  text_.append(scopes_.size() * 2, ' ');
}

void JsonWriter::separate() {
  Scope& scope = scopes_.back();
  if (!scope.empty) text_ += indented_ ? ", " : ",";
  scope.empty = false;
  if (scope.multi_line) indent();
  if (breaks_) text_ += '\n';
  breaks_ = false;
}

void JsonWriter::key(std::string_view name) {
  separate();
  value(name);
  text_ += indented_ ? ": " : ":";
}

void JsonWriter::item() { separate(); }

void JsonWriter::value(std::string_view text) { append_json(text_, text, JsonUtf8::kReplace); }

void JsonWriter::value(int64_t number) {
  char digits[24];
  text_.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

void JsonWriter::real(double number) {
  char digits[40];
  const std::string_view text(
      digits, static_cast<size_t>(std::to_chars(digits, digits + sizeof digits, number).ptr - digits));
  text_ += text;
  if (text.find_first_of(".e") == std::string_view::npos) text_ += ".0";
}

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
