#pragma once
#include <optional>

#include "baton/ops/compute.h"
#include "baton/ops/tensor/tensor_attrs.h"

namespace baton {

/// The mean squared distance of input 0 from input 1, its mean (whose reduced axes have extent 1).
void variance_compute(Compute& c, const std::optional<Ints>& axis, bool exclude, bool keepdims,
                      bool unbiased);

}  // namespace baton
