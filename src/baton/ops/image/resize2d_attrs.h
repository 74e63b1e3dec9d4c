#pragma once
// Attributes that image.resize2d shares with its dynamic form. Names and defaults are Relay's.
#include <optional>
#include <string>
#include <vector>

#include "baton/ir/attrs.h"

namespace baton {

struct Resize2DAttrs {
  std::optional<std::vector<int64_t>> size = {};
  AttrValue roi = {};  ///< None, or a list of numbers
  std::string layout = "NCHW";
  std::string method = "linear";
  std::string coordinate_transformation_mode = "half_pixel";
  std::string rounding_method = "round";
  double cubic_alpha = -0.5;
  int64_t cubic_exclude = 0;
  double extrapolation_value = 0;
  DType out_dtype = {};  ///< void: as the data
};

template <>
const AttrSchema& attr_schema<Resize2DAttrs>();

}  // namespace baton
