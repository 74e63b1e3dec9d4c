#pragma once
// A code map as text, for the cache.
#include <optional>
#include <string>

#include "baton/codegen/debug/code_map.h"

namespace baton {

std::string code_map_text(const CodeMap& map);
/// Nothing when the text is no code map.
std::optional<CodeMap> parse_code_map(const std::string& text);

}  // namespace baton
