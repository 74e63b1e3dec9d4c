#pragma once
// Tensors in TVM's binary form and base64, as used by JSON and metadata sections.
#include <optional>
#include <string>
#include <string_view>

#include "baton/support/base/ndarray.h"

namespace baton::text {

/// TVM's binary form of a tensor: a magic number, device, rank, type, extents, bytes.
std::string array_to_bytes(const NDArray& array);
/// Throws Error when malformed.
NDArray array_from_bytes(std::string_view bytes);

std::string base64_encode(std::string_view bytes);
/// Nullopt when `text` is not valid base64.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace baton::text
