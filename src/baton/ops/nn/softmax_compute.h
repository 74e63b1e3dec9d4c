#pragma once
#include "baton/ops/compute.h"
#include "baton/ops/nn/softmax_attrs.h"

namespace baton {

/// Stages "max", "exp", "sum" and "softmax".
void softmax_compute(Compute& compute, const SoftmaxAttrs& attrs);
/// Stages "max", "sum" and "log_softmax".
void log_softmax_compute(Compute& compute, const SoftmaxAttrs& attrs);

}  // namespace baton
