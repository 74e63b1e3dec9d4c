#pragma once
// Attributes of the 2-D pools. Names, order and defaults are Relay's.
#include <cstdint>
#include <string>
#include <vector>

#include "baton/ir/attrs.h"

namespace baton {

struct MaxPool2DAttrs {
  std::vector<int64_t> pool_size = {};
  std::vector<int64_t> strides{1, 1};
  std::vector<int64_t> dilation{1, 1};
  std::vector<int64_t> padding{0, 0};  ///< 1, 2 or 4 values: padding_2d() of conv_attrs.h
  std::string layout = "NCHW";
  std::string out_layout = {};
  bool ceil_mode = false;
};

struct AvgPool2DAttrs {
  std::vector<int64_t> pool_size = {};
  std::vector<int64_t> strides{1, 1};
  std::vector<int64_t> dilation{1, 1};
  std::vector<int64_t> padding{0, 0};
  std::string layout = "NCHW";
  std::string out_layout = {};
  bool ceil_mode = false;
  bool count_include_pad = false;  ///< false: the mean is over the cells inside the data
};

struct GlobalPool2DAttrs {
  std::string layout = "NCHW";
  std::string out_layout = {};
};

template <>
const AttrSchema& attr_schema<MaxPool2DAttrs>();
template <>
const AttrSchema& attr_schema<AvgPool2DAttrs>();
template <>
const AttrSchema& attr_schema<GlobalPool2DAttrs>();

}  // namespace baton
