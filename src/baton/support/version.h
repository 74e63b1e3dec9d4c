#pragma once

#include <string_view>

namespace baton {

/// Baton's version, from `project(... VERSION ...)` in CMakeLists.txt.
[[nodiscard]] std::string_view version();

}  // namespace baton
