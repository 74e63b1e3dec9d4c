#pragma once
#include <string>

#include "baton/ir/layout.h"
#include "baton/ops/compute_util.h"

namespace baton {

/// Boxes (n, 4) of images box_indices (n), resized to the result's height and width.
void crop_and_resize_compute(Compute& c, const Layout& layout, const std::string& method,
                             double extrapolation_value);
/// Affine maps (n, 2, 3) of a grid from -1 to 1.
void affine_grid_compute(Compute& c);
/// Data (n, channels, spatial...) at the positions of input 1 (n, coordinates, spatial...), the last axis'
/// coordinate first.
void grid_sample_compute(Compute& c, const std::string& method, const std::string& padding_mode,
                         bool align_corners);

}  // namespace baton
