#pragma once
// Functions from the text that reports and measurements keep of them.
#include <string>

#include "baton/ir/expr.h"

namespace baton {

/// The typed function of a text as reports have it (FunctionRow::relay); null when it does not parse, as with
/// constants that the text only refers to.
Function function_of_text(const std::string& relay);

}  // namespace baton
