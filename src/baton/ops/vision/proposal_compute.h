#pragma once
#include "baton/ops/compute.h"
#include "baton/ops/vision/vision_attrs.h"

namespace baton {

/// Inputs: scores (batch, 2 * anchors, height, width), the foreground second; corrections of the anchors
/// (batch, 4 * anchors, height, width); height, width and scale of each image. Result: image and corners of
/// rpn_post_nms_top_n regions for each image; where there are fewer, they are repeated.
void proposal_compute(Compute& c, const ProposalAttrs& attrs);

}  // namespace baton
