#pragma once
// numpy's files: .npy (one array) and .npz (a zip of them, stored or deflated), read and written.
#include <string>

#include "baton/support/base/ndarray.h"
#include "baton/support/base/params_blob.h"

namespace baton {

/// Throws Error (path, reason) for files that are missing, truncated, or hold unsupported arrays (objects,
/// strings, big endian). Fortran order is converted to row-major.
NDArray read_npy(const std::string& path);
/// In the archive's order, names without ".npy".
NamedArrays read_npz(const std::string& path);

/// Written atomically, under a temporary name and renamed.
void write_npy(const std::string& path, const NDArray& array);
void write_npz(const std::string& path, const NamedArrays& arrays);

}  // namespace baton
