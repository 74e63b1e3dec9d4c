#pragma once
// Shared by nn.upsampling, nn.upsampling3d and their dynamic forms. Names and defaults of attributes are
// Relay's.
#include <string>

#include "baton/ir/attrs.h"

namespace baton {

struct UpSamplingAttrs {
  double scale_h = 0, scale_w = 0;
  std::string layout = "NCHW";
  std::string method = "nearest_neighbor";  ///< or "bilinear", "bicubic"
  bool align_corners = false;
};
struct UpSampling3DAttrs {
  double scale_d = 0, scale_h = 0, scale_w = 0;
  std::string layout = "NCDHW";
  std::string method = "nearest_neighbor";  ///< or "trilinear"
  std::string coordinate_transformation_mode = "half_pixel";
};

template <>
const AttrSchema& attr_schema<UpSamplingAttrs>();
template <>
const AttrSchema& attr_schema<UpSampling3DAttrs>();

class Compute;
void upsampling_compute(Compute& c, const UpSamplingAttrs& attrs);
void upsampling3d_compute(Compute& c, const UpSampling3DAttrs& attrs);

}  // namespace baton
