#pragma once
// Common rules for moving per-channel scales through operators; see ir/rules/scale_rule.h.
#include "baton/ir/rules/scale_rule.h"

namespace baton {

/// f(x * s) = f(x) * s for s > 0, elementwise: relu, leaky_relu.
ScaleRule positive_scale_rule();
/// add, subtract: (a + b) * s = a * s + b * s, where b is a vector along the axis or can absorb s itself.
ScaleRule sum_scale_rule();
/// bias_add: backward only.
ScaleRule bias_scale_rule();
/// conv2d, conv3d (groups of one, or depthwise): into the output channels of the weight backward, its input
/// channels forward.
ScaleRule conv_scale_rule();
/// dense: into the rows of the weight backward, its columns forward.
ScaleRule dense_scale_rule();

}  // namespace baton
