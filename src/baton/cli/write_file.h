#pragma once
// Files that verbs write beside their output.
#include <string>

namespace baton::cli {

/// Throws Error when no file can be made at `path`: asked before work that takes minutes.
void check_can_write(const std::string& path);

/// Whole or not at all; replaces what was there. Throws Error.
void write_file(const std::string& path, const std::string& text);

}  // namespace baton::cli
