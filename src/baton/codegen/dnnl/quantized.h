#pragma once
#include "baton/byoc/pattern_table.h"
#include "baton/codegen/dnnl/region_writer.h"

namespace baton {

/// `dnnl.qnn.conv2d`, `dnnl.qnn.conv2d_sum` and those of dense layers, the largest first. Results are rounded
/// from float32, where Baton's own kernels multiply by fixed-point numbers.
PatternTable dnnl_quantized_layers();

/// Appends the step of a call of such a composite and returns its value.
dnnl_blob::View lower_quantized_layer(dnnl_blob::RegionWriter& writer, const CallNode& call);

}  // namespace baton
