#pragma once
// The form of transposed convolutions that the schedule template knows.
#include "baton/ops/nn/conv/conv_nd.h"

namespace baton {

/// Computes a transposed convolution as one ordinary convolution per phase, the position of a result modulo
/// the strides: no product with one of the zeros between the elements of the data. Stages "pad" (zeros at
/// both ends of the rows; not in all forms), "phases" (the sums: result x is at x / stride of phase
/// x % stride) and "out". `kernel_letters`: the weight's axes in the order (groups,) input channels, output
/// channels of a group, spatial. Returns false, and makes no stage, where another form is needed: other
/// types than float32, tensors without elements, dilation together with strides, other layouts than
///   NCHW, and any order of the weight's axes, or
///   NCHW{i}c, NCHW{o}c, and OHWI{o}o (depthwise: {i} = {o}, OHWI{i}i); likewise with 1 and 3 axes.
bool conv_transpose_by_phases(Compute& c, const ConvNd& conv, const std::string& kernel_letters);

}  // namespace baton
