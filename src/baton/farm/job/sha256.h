#pragma once
// SHA-256 (FIPS 180-4): names the content of a bundle's files. Own code, so that a runner on a device needs
// no library for it; signatures are a library's (signature.h).
#include <string>
#include <string_view>

namespace baton {

/// 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

}  // namespace baton
