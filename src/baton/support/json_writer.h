#pragma once
// The one writer of JSON text: what is large, or must have TVM's layout. It writes what it is told, in order.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace baton {

enum class JsonLayout {
  kIndented,  ///< TVM's: two blanks of indent, ", " before a line break
  kCompact,   ///< no blanks; lines break where break_line() says
};

class JsonWriter {
 public:
  explicit JsonWriter(JsonLayout layout = JsonLayout::kIndented)
      : indented_(layout == JsonLayout::kIndented) {}

  /// `multi_line`, of the indented layout: a line for each member or element.
  void begin_object(bool multi_line = true) { open('{', multi_line); }
  void end_object() { close('}'); }
  void begin_array(bool multi_line = true) { open('[', multi_line); }
  void end_array() { close(']'); }

  /// The name of a member; its value comes next.
  void key(std::string_view name);
  /// Before each element of an array.
  void item();
  /// The next member, element or bracket that closes stands on a line of its own.
  void break_line() { breaks_ = true; }

  /// What is no UTF-8 gets a replacement character: JSON has no other way.
  void value(std::string_view text);
  void value(int64_t number);
  void real(double number);  ///< as many digits as give the same number again, and a point; finite
  void boolean(bool flag) { text_ += flag ? "true" : "false"; }
  void null() { text_ += "null"; }
  void json(std::string_view text) { text_ += text; }  ///< that is JSON already

  /// Indented: on one line up to ten numbers, else one line each.
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
