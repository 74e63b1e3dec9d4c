#pragma once
// JSON in the layout that TVM's graph.json has: two blanks of indent, ", " before a line break.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace baton {

class JsonWriter {
 public:
  void begin_object() { open('{', true); }
  void end_object() { close('}'); }
  void begin_array(bool multi_line = true) { open('[', multi_line); }
  void end_array() { close(']'); }

  /// The name of a member; its value comes next.
  void key(std::string_view name);
  /// Before each element of an array.
  void item();

  void value(std::string_view text);
  void value(int64_t number);
  /// On one line up to ten numbers, else one line each.
  void value(const std::vector<int64_t>& numbers);
  void value(const std::vector<std::string>& texts);

  std::string take() { return std::move(text_); }

 private:
  struct Scope {
    bool multi_line;
    int count;
  };
  void open(char bracket, bool multi_line);
  void close(char bracket);
  void separate();
  void line_break();

  std::string text_;
  std::vector<Scope> scopes_;
};

}  // namespace baton
