#pragma once
// Helpers shared by the tables of reports.
#include <string>

namespace baton {

std::string formatted(const char* pattern, ...) __attribute__((format(printf, 1, 2)));

/// A line of a table, without trailing blanks.
std::string table_line(std::string text);

/// Truncated to `width` characters.
std::string clipped(const std::string& text, size_t width);
/// Shortened to `width` characters in the middle: kernel names differ at their ends.
std::string clipped_inside(const std::string& text, size_t width);

}  // namespace baton
