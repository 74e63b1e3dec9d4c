#pragma once

#include <string_view>

namespace baton {

/// Baton's version, as in `project(... VERSION ...)` of CMakeLists.txt.
[[nodiscard]] std::string_view version();

}  // namespace baton
