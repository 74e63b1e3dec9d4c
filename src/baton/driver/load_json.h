#pragma once
// Reads modules and expressions that were saved as JSON, and makes their types trustworthy.
#include <string_view>

#include "baton/text/json/json.h"

namespace baton {

/// Reads Baton's JSON or TVM 0.11.1's. Inferred types that the text holds are kept when inference gives the
/// same ones. Otherwise they are dropped and inferred; where that fails, the nodes stay without. Throws Error
/// with what is wrong with the text.
Saved load_json(std::string_view text);

}  // namespace baton
