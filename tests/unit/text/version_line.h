#pragma once

namespace baton::text {

/// The first line of a program in Relay's text.
inline constexpr const char* kVersionLine = "#[version = \"0.0.5\"]\n";

}  // namespace baton::text
