#pragma once
// numpy's files: .npy (one array) and .npz (a zip of them, stored or deflated), read and written.
#include <string>

#include "baton/support/base/ndarray.h"
#include "baton/support/base/params_blob.h"

namespace baton {

/// Throws Error (path, what was seen) for files that are missing, truncated, or hold arrays we have no type
/// for (objects, strings, big endian). Fortran order is turned into row-major.
NDArray read_npy(const std::string& path);
/// In the archive's order, names without ".npy".
NamedArrays read_npz(const std::string& path);

/// Written under a temporary name and renamed: a full disk leaves no file behind.
void write_npy(const std::string& path, const NDArray& array);
void write_npz(const std::string& path, const NamedArrays& arrays);

}  // namespace baton
