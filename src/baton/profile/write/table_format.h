#pragma once
// Helpers shared by the tables of reports.
#include <string>

namespace baton {

std::string formatted(const char* pattern, ...) __attribute__((format(printf, 1, 2)));

/// A line of a table, without trailing blanks.
std::string table_line(std::string text, bool newline = true);

/// Truncated to `width` characters.
std::string clipped(const std::string& text, size_t width);
/// A kernel's title in `width` characters; its place, behind the last comma, stays. Without room for
/// "net.py:13 from net.py:31" that is "net.py:13 from :31".
std::string clipped_title(const std::string& full, size_t width);

/// "41.0 MB", "512 B".
std::string bytes_text(double bytes);

/// Lines of at most `width` characters, broken at blanks and indented by `indent`.
std::string wrapped(const std::string& text, int indent, int width);

/// How a line stands out on a terminal.
enum class Style { kPlain, kHead, kLong, kNotable, kShort };
/// By share of the model: from 10 %, from 3 %, below 0.5 %.
Style style_of_share(double share);
/// `line` (without newline) between ANSI escapes; unchanged without colour.
std::string in_style(Style style, bool colour, const std::string& line);

}  // namespace baton
