#pragma once
// JSON form of code maps, for the cache.
#include <optional>
#include <string>

#include "baton/codegen/debug/code_map.h"

namespace baton {

std::string code_map_text(const CodeMap& map);
/// Nullopt for malformed text.
std::optional<CodeMap> parse_code_map(const std::string& text);

}  // namespace baton
