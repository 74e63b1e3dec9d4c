#include "baton/profile/write/table_format.h"

#include <cstdarg>
#include <cstdio>

namespace baton {

std::string formatted(const char* pattern, ...) {
  char text[400];
  va_list values;
  va_start(values, pattern);
  std::vsnprintf(text, sizeof text, pattern, values);
  va_end(values);
  return text;
}

std::string table_line(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text + '\n';
}

std::string clipped(const std::string& text, size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 3) + "...";
}

std::string clipped_inside(const std::string& text, size_t width) {
  if (text.size() <= width) return text;
  const size_t left = (width - 3) / 2, right = width - 3 - left;
  return text.substr(0, left) + "..." + text.substr(text.size() - right);
}

}  // namespace baton
