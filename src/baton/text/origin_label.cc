#include "baton/text/origin_label.h"

#include <algorithm>
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

namespace {

constexpr std::string_view kBetween = " > ";  // callers in an origin's source name, the outermost first

/// Whether `caller` is one of the lines that lead to an operator of a model built in Python.
bool is_among(std::string_view caller, std::string_view callers) {
  while (!callers.empty()) {
    const size_t end = std::min(callers.find(kBetween), callers.size());
    if (callers.substr(0, end) == caller && callers.find(':') != callers.npos) return true;
    callers.remove_prefix(std::min(end + kBetween.size(), callers.size()));
  }
  return false;
}

bool is_called(std::string_view wanted, const OperatorNames& names) {
  if (wanted.empty()) return false;
  if (wanted == names.op || wanted == names.name || wanted == names.source) return true;
  if (is_among(wanted, names.source)) return true;
  const std::string line = std::to_string(names.line);
  return names.line > 0 && (wanted == line || wanted == line + ":" + std::to_string(names.column));
}

/// Whether a report may call the operator so: "nn.conv2d", "conv2d", "conv2d 3x3 64->64 @56".
bool is_brief_of(std::string_view text, std::string_view op) {
  const std::string_view word = text.substr(0, text.find(' '));
  return word == op || word == op.substr(op.rfind('.') + 1);
}

}  // namespace

bool means_operator(std::string_view wanted, const OperatorNames& names) {
  if (is_called(wanted, names)) return true;
  // "net.py:13 from net.py:31", or in a narrow table "net.py:13 from :31": the nearest caller.
  constexpr std::string_view kFrom = " from ";
  if (const size_t from = wanted.rfind(kFrom); from != wanted.npos) {
    const std::string_view caller = wanted.substr(from + kFrom.size());
    const size_t last = names.source.rfind(kBetween);
    const std::string_view nearest =
        names.source.substr(last == names.source.npos ? 0 : last + kBetween.size());
    const std::string_view file = names.name.substr(0, names.name.rfind(':'));
    const bool is_in_file = caller.starts_with(':') && nearest.starts_with(file);
    const bool is_nearest = !caller.empty() && caller == (is_in_file ? nearest.substr(file.size()) : nearest);
    return is_nearest && means_operator(wanted.substr(0, from), names);
  }
  // "conv2d 3x3 + relu, line 14": where it is comes last.
  const size_t space = wanted.rfind(' ');
  if (space == std::string_view::npos || !is_called(wanted.substr(space + 1), names)) return false;
  std::string_view before = wanted.substr(0, space);
  constexpr std::string_view kLine = "line";
  if (before == kLine) return true;
  if (before.ends_with(" line")) before.remove_suffix(kLine.size() + 1);
  while (!before.empty() && (before.back() == ',' || before.back() == ' ')) before.remove_suffix(1);
  return is_brief_of(before, names.op);
}

}  // namespace baton
