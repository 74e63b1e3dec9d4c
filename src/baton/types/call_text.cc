#include "baton/types/call_text.h"

#include <cctype>

namespace baton {

namespace {

// A cursor over source text that counts lines and columns as spans do.
class Reader {
 public:
  explicit Reader(const Span& start) : source_(start.source), line_(start.line), column_(start.column) {
    const std::string& text = source_->text();
    uint32_t line = 1;
    while (at_ < text.size() && line < line_)
      if (text[at_++] == '\n') ++line;
    at_ += column_ - 1;
  }
  bool done() const { return at_ >= source_->text().size(); }
  char peek() const { return source_->text()[at_]; }
  char next() {
    const char c = source_->text()[at_++];
    if (c == '\n') {
      ++line_;
      column_ = 1;
    } else {
      ++column_;
    }
    return c;
  }
  void skip_space() {
    while (!done() && std::isspace(static_cast<unsigned char>(peek()))) next();
  }
  /// The span from `start`, an earlier copy of the cursor, to here.
  Span since(const Reader& start) const { return {source_, start.line_, start.column_, line_, column_}; }

 private:
  Ref<const Source> source_;
  size_t at_ = 0;
  uint32_t line_, column_;
};

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '%' || c == '@';
}

// One argument, up to the comma or bracket that ends it.
Span read_argument(Reader& reader) {
  reader.skip_space();
  const Reader start = reader;
  Reader end = reader;
  int depth = 0;
  while (!reader.done()) {
    const char c = reader.peek();
    if (depth == 0 && (c == ',' || c == ')')) break;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    reader.next();
    if (c == '"')
      while (!reader.done() && reader.next() != '"') {
      }
    if (!std::isspace(static_cast<unsigned char>(c))) end = reader;
  }
  return end.since(start);
}

}  // namespace

std::optional<CallText> call_text(const CallNode& call) {
  const Span& span = call.span();
  if (!span || !span.source || span.source->text().empty() || span.column == 0) return std::nullopt;
  Reader reader(span);
  const Reader start = reader;
  while (!reader.done() && is_name(reader.peek())) reader.next();
  CallText text;
  text.callee = reader.since(start);
  if (text.callee.end_column == text.callee.column || reader.done() || reader.peek() != '(')
    return std::nullopt;
  for (size_t i = 0; i < call.args().size(); ++i) {
    reader.next();
    text.arguments.push_back(read_argument(reader));
    const bool last = i + 1 == call.args().size();
    if (reader.done() || (!last && reader.peek() != ',')) return std::nullopt;
  }
  return text;
}

}  // namespace baton
