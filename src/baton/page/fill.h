#pragma once
// HTML pages that hold their data: a template of style and scripts, a title, and JSON.
#include <string>
#include <string_view>

#include "baton/support/json.h"

namespace baton {

/// The template with `@title@` and `@data@` replaced. Of the data null and empty values are dropped, and
/// numbers rounded to six digits, which is more than any clock resolves; `attrs` and `params` are kept as
/// they are. Invalid UTF-8, possible in names, is replaced.
std::string filled_page(std::string_view page, const std::string& title, const Json& data);

}  // namespace baton
