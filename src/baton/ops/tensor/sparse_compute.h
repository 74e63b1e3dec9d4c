#pragma once
// Sparse values with their indices, one a row.
#include "baton/ops/domain.h"

namespace baton {

/// Inputs: indices (a scalar, a vector or one row per value), values (or one for all), the value elsewhere.
void sparse_to_dense_compute(Compute& c);
/// Inputs: indices, values, shape, value for empty rows. Results: indices, values, whether a row was empty.
void sparse_fill_empty_rows_compute(Compute& c);
/// Inputs: indices, shape, new shape (-1 is inferred). Results: indices and shape.
void sparse_reshape_compute(Compute& c);

}  // namespace baton
