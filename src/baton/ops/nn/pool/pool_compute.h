#pragma once
#include "baton/ops/compute.h"
#include "baton/ops/nn/pool/pool_attrs.h"

namespace baton {

/// Stages "max_pool2d" and "out".
void max_pool2d_compute(Compute& compute, const MaxPool2DAttrs& attrs);
/// Stages "sum" and "avg_pool2d".
void avg_pool2d_compute(Compute& compute, const AvgPool2DAttrs& attrs);
/// Stages "sum" and "global_avg_pool2d".
void global_avg_pool2d_compute(Compute& compute, const GlobalPool2DAttrs& attrs);
/// Stages "global_max_pool2d" and "out".
void global_max_pool2d_compute(Compute& compute, const GlobalPool2DAttrs& attrs);

}  // namespace baton
