#pragma once
// What the tables of a report share.
#include <string>

namespace baton {

std::string formatted(const char* pattern, ...) __attribute__((format(printf, 1, 2)));

/// A line of a table: nothing after the last column that holds something.
std::string table_line(std::string text);

/// At most `width` characters, the end left out.
std::string clipped(const std::string& text, size_t width);
/// The same, the middle left out: kernels' names differ at their ends.
std::string clipped_inside(const std::string& text, size_t width);

}  // namespace baton
