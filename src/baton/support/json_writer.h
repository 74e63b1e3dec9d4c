#pragma once
// A streaming JSON writer, for large texts and for TVM's layout. Writes values in call order.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace baton {

enum class JsonLayout {
  kIndented,  ///< TVM's: two blanks of indent, ", " before a line break
  kCompact,   ///< no blanks; line breaks only by break_line()
};

class JsonWriter {
 public:
  explicit JsonWriter(JsonLayout layout = JsonLayout::kIndented)
      : indented_(layout == JsonLayout::kIndented) {}

  /// `multi_line`: in the indented layout, one line per member or element.
  void begin_object(bool multi_line = true) { open('{', multi_line); }
  void end_object() { close('}'); }
  void begin_array(bool multi_line = true) { open('[', multi_line); }
  void end_array() { close(']'); }

  /// The name of a member; its value must follow.
  void key(std::string_view name);
  /// Must precede each element of an array.
  void item();
  /// Puts the next member, element or closing bracket on a new line.
  void break_line() { breaks_ = true; }

  /// Invalid UTF-8 is replaced by the replacement character: JSON cannot represent it.
  void value(std::string_view text);
  void value(int64_t number);
  void real(double number);  ///< shortest round-trip digits, with a decimal point; must be finite
  void boolean(bool flag) { text_ += flag ? "true" : "false"; }
  void null() { text_ += "null"; }
  void json(std::string_view text) { text_ += text; }  ///< already JSON

  /// Indented layout: up to ten numbers on one line, else one line each.
  void value(const std::vector<int64_t>& numbers);
  void value(const std::vector<std::string>& texts);

  std::string take() { return std::move(text_); }

 private:
  struct Scope {
    bool multi_line;
    bool empty;
  };
  void open(char bracket, bool multi_line);
  void close(char bracket);
  void separate();
  void indent();

  bool indented_;
  bool breaks_ = false;
  std::string text_;
  std::vector<Scope> scopes_;
};

}  // namespace baton
