#include "baton/text/origin_label.h"

#include <cctype>

#include "baton/support/source.h"

namespace baton {

namespace {

// The variable assigned before `column`: "  %12 = " or "  let %x: Tensor[(3), float32] = ".
std::string_view assigned_name(std::string_view line, uint32_t column) {
  if (column < 2 || column > line.size() + 1) return {};
  std::string_view before = line.substr(0, column - 1);
  const auto trim_back = [&] {
    while (!before.empty() && std::isspace(static_cast<unsigned char>(before.back())))
      before.remove_suffix(1);
  };
  trim_back();
  if (before.empty() || before.back() != '=') return {};
  before.remove_suffix(1);
  trim_back();
  while (!before.empty() && std::isspace(static_cast<unsigned char>(before.front()))) before.remove_prefix(1);
  if (before.starts_with("let ")) before.remove_prefix(4);
  if (before.empty() || before.front() != '%') return {};
  const size_t end = before.find_first_of(" :/", 1);  // a type or a comment may follow
  return before.substr(0, end);
}

}  // namespace

std::string origin_name(const Origin& origin) {
  const Span& span = origin.span();
  if (!span || !span.source) return origin.source_name();
  if (span.column == 0) {  // a line of the program that called the builder
    const std::string& file = span.source->name();
    return file.substr(file.find_last_of('/') + 1) + ":" + std::to_string(span.line);
  }
  const std::string_view name = assigned_name(span.source->line(span.line), span.column);
  if (!name.empty()) return std::string(name);
  return std::to_string(span.line) + ":" + std::to_string(span.column);
}

std::string origin_label(const Origin& origin) {
  const std::string name = origin_name(origin);
  return name.empty() ? origin.op() : name + " " + origin.op();
}

bool means_origin(std::string_view wanted, const Origin& origin) {
  const Span& span = origin.span();
  const std::string name = origin_name(origin);
  return means_operator(
      wanted, {origin.op(), name, origin.source_name(), span ? span.line : 0, span ? span.column : 0});
}

bool means_operator(std::string_view wanted, const OperatorNames& names) {
  if (wanted.empty()) return false;
  if (wanted == names.op || wanted == names.name || wanted == names.source) return true;
  const std::string line = std::to_string(names.line);
  return names.line > 0 && (wanted == line || wanted == line + ":" + std::to_string(names.column));
}

}  // namespace baton
