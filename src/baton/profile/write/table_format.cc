#include "baton/profile/write/table_format.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <string_view>

namespace baton {

std::string formatted(const char* pattern, ...) {
  char text[400];
  va_list values;
  va_start(values, pattern);
  std::vsnprintf(text, sizeof text, pattern, values);
  va_end(values);
  return text;
}

std::string table_line(std::string text, bool newline) {
  text.erase(text.find_last_not_of(' ') + 1);
  return newline ? text + '\n' : text;
}

namespace {

/// "dense, net.py:13 from net.py:31" as "dense, net.py:13 from :31".
std::string with_file_once(std::string title) {
  constexpr std::string_view kFrom = " from ";
  const size_t from = title.rfind(kFrom), caller = from + kFrom.size();
  if (from == std::string::npos) return title;
  const size_t blank = title.rfind(' ', from - 1), here = blank == std::string::npos ? 0 : blank + 1;
  const size_t colon = title.rfind(':', from);
  if (from == 0 || colon == std::string::npos || colon < here) return title;
  const std::string file = title.substr(here, colon - here);
  if (title.compare(caller, file.size() + 1, file + ":") == 0) title.erase(caller, file.size());
  return title;
}

}  // namespace

std::string clipped_title(const std::string& full, size_t width) {
  const std::string title = full.size() <= width ? full : with_file_once(full);
  const size_t comma = title.rfind(", ");
  if (title.size() <= width || comma == std::string::npos || title.size() - comma + 12 > width)
    return clipped(title, width);
  return clipped(title.substr(0, comma), width - (title.size() - comma)) + title.substr(comma);
}

std::string bytes_text(double bytes) {
  const char* const units[] = {"B", "kB", "MB", "GB", "TB"};
  size_t unit = 0;
  for (; bytes >= 1000 && unit < 4; ++unit) bytes /= 1000;
  return formatted(unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}

std::string wrapped(const std::string& text, int indent, int width) {
  const size_t room = static_cast<size_t>(std::max(width - indent, 20));
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t end = text.size();
    if (end - at > room) {
      end = text.rfind(' ', at + room);
      if (end == std::string::npos || end <= at) end = at + room;
    }
    out += std::string(static_cast<size_t>(indent), ' ') + text.substr(at, end - at) + '\n';
    at = text.find_first_not_of(' ', end);
    if (at == std::string::npos) break;
  }
  return out;
}

Style style_of_share(double share) {
  return share >= 0.1    ? Style::kLong
         : share >= 0.03 ? Style::kNotable
         : share < 0.005 ? Style::kShort
                         : Style::kPlain;
}

std::string in_style(Style style, bool colour, const std::string& line) {
  if (!colour) return line;
  switch (style) {
    case Style::kPlain:
      return line;
    case Style::kHead:
      return "\033[1m" + line + "\033[0m";
    case Style::kLong:
      return "\033[1;31m" + line + "\033[0m";
    case Style::kNotable:
      return "\033[33m" + line + "\033[0m";
    case Style::kShort:
      return "\033[2m" + line + "\033[0m";
  }
  return line;
}

std::string clipped(const std::string& text, size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 3) + "...";
}

}  // namespace baton
