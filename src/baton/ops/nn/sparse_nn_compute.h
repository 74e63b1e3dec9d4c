#pragma once
// Sparse matrices: values, their columns, and where each row starts (CSR); or blocks of values (BSR).
#include "baton/ops/compute_util.h"

namespace baton {

/// Input 0 (m, k) times the transposed sparse matrix of inputs 1 to 3; with `sparse_lhs` the result is
/// transposed.
void sparse_dense_compute(Compute& c, bool sparse_lhs);
/// The product of the sparse matrix with the channels of each pixel.
void sparse_conv2d_compute(Compute& c, bool channels_last);
void sparse_add_compute(Compute& c);
/// Inputs and results: values, columns, row starts.
void sparse_transpose_compute(Compute& c);

}  // namespace baton
