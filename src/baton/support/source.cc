#include "baton/support/source.h"

#include <tuple>

namespace baton {

std::string_view Source::line(uint32_t number) const {
  size_t start = 0;
  for (uint32_t at = 1; at < number; ++at) {
    const size_t end = text_.find('\n', start);
    if (end == std::string::npos) return {};
    start = end + 1;
  }
  const std::string_view rest = std::string_view(text_).substr(start);
  return rest.substr(0, rest.find('\n'));
}

Span Span::merge(const Span& other) const {
  if (!*this) return other;
  if (!other || other.source != source) return *this;
  Span merged = *this;
  if (std::tie(other.line, other.column) < std::tie(line, column)) {
    merged.line = other.line;
    merged.column = other.column;
  }
  if (std::tie(end_line, end_column) < std::tie(other.end_line, other.end_column)) {
    merged.end_line = other.end_line;
    merged.end_column = other.end_column;
  }
  return merged;
}

std::string Span::text() const {
  return (source ? source->name() : std::string("?")) + ":" + std::to_string(line) + ":" +
         std::to_string(column);
}

std::string Span::shown_text() const {
  if (!shown_line && !shown_column) return text();
  // The column may be -1: CapturePostDfsIndexInSpans.
  return (source ? source->name() : std::string("?")) + ":" + std::to_string(shown_line) + ":" +
         std::to_string(static_cast<int32_t>(shown_column));
}

}  // namespace baton
