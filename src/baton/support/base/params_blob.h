// The parameter file format of TVM (`relay.save_param_dict`), and the tensor format that it and module
// metadata share.
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

/// Tensors by name, in the order of the file.
using NamedArrays = std::vector<std::pair<std::string, NDArray>>;

/// Names, then tensors. Every array must be defined.
std::string write_params_blob(const NamedArrays& params);

/// The inverse. Sizes are checked against what is there before anything is allocated.
Result<NamedArrays> read_params_blob(std::span<const uint8_t> blob);

/// One tensor: what a params blob holds many of, and what `#[metadata]` holds in base64.
void append_ndarray_blob(std::string& out, const NDArray& array);

/// Reads one tensor off the front of `blob` and moves `blob` behind it.
Result<NDArray> read_ndarray_blob(std::span<const uint8_t>& blob);

}  // namespace baton
