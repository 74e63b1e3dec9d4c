#pragma once
// Convolutions on plain layouts with vectors over positions (ir/rules/conv_positions.h).
#include "baton/ops/compute.h"
#include "baton/ops/nn/conv/conv_nd.h"

namespace baton {

/// Computes a convolution of float32 in canonical layouts, its weight in any order of axes: stages "pad" (the
/// bands of data), "sums" and "out". Returns false, with nothing made, when the form does not fit.
bool conv_by_positions(Compute& c, const ConvNd& conv);

/// The same of a transposed convolution whose strides are 1. `kernel_letters` names the weight's axes in the
/// order input channels, output channels of a group, spatial.
bool conv_transpose_by_positions(Compute& c, const ConvNd& conv, const std::string& kernel_letters);

/// Whether conv_by_positions() serves a convolution of these types, all static.
bool sums_by_positions(const ConvNd& conv, const TensorTypeNode& data, const TensorTypeNode& weight,
                       const TensorTypeNode& result);

}  // namespace baton
