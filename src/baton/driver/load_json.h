#pragma once
// Loads modules and expressions from JSON and verifies their types.
#include <string_view>

#include "baton/text/json/json.h"

namespace baton {

/// Reads Baton's JSON or TVM 0.11.1's. Types in the text are kept when inference yields the same ones;
/// otherwise they are inferred again, or left out when inference fails. Throws Error for malformed text.
Saved load_json(std::string_view text);

}  // namespace baton
