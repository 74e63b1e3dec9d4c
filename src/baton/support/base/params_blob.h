// TVM's parameter file format (`relay.save_param_dict`), and the tensor format shared with module metadata.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/support/base/ndarray.h"
#include "baton/support/base/status.h"

namespace baton {

/// Tensors by name, in file order.
using NamedArrays = std::vector<std::pair<std::string, NDArray>>;

/// Writes names, then tensors, and a checksum into a word that other readers of the format skip. Every array
/// must be defined.
std::string write_params_blob(const NamedArrays& params);

/// The inverse. Sizes are validated before anything is allocated. The checksum is compared if the file has
/// one; files of TVM have none, so that a changed value in one of them cannot be seen.
Result<NamedArrays> read_params_blob(std::span<const uint8_t> blob);

/// Appends one tensor in the format of params blobs and of `#[metadata]` (there in base64).
void append_ndarray_blob(std::string& out, const NDArray& array);

/// Reads one tensor from the front of `blob` and advances `blob`.
Result<NDArray> read_ndarray_blob(std::span<const uint8_t>& blob);

}  // namespace baton
