#pragma once
// Tensors as bytes and base64: TVM's binary form, which JSON and metadata sections hold.
#include <optional>
#include <string>
#include <string_view>

#include "baton/support/base/ndarray.h"

namespace baton::text {

/// TVM's binary form of a tensor: a magic number, device, rank, type, extents, bytes.
std::string array_to_bytes(const NDArray& array);
/// Throws Error with what is wrong.
NDArray array_from_bytes(std::string_view bytes);

std::string base64_encode(std::string_view bytes);
/// Nothing when `text` is no base64.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace baton::text
