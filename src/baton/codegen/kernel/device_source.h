#pragma once
// The source text in the code of a GPU kernel, for readers of it.
#include <string_view>

namespace baton {

/// The source in packed device code (device_code.h). Empty when `bytes` is not packed code.
std::string_view source_of(std::string_view bytes);

}  // namespace baton
