#pragma once
#include "baton/byoc/pattern_table.h"
#include "baton/codegen/dnnl/region_writer.h"

namespace baton {

/// (data - mean) / sqrt(variance + epsilon) * gamma + beta over the last axis, in single operators, as
/// exporters and SimplifyInference write it: `dnnl.layer_norm`.
CompositePattern dnnl_layer_norm();

/// Appends the steps of a call of that composite and returns its value.
dnnl_blob::View lower_layer_norm(dnnl_blob::RegionWriter& writer, const CallNode& call);

}  // namespace baton
