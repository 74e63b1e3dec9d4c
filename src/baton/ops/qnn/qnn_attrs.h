#pragma once
// Attributes that only quantised operators have. Names, order and defaults are Relay's.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "baton/ir/attrs.h"

namespace baton {

struct QuantizeAttrs {
  DType out_dtype = {};
  int64_t axis = -1;  ///< the channels, when scale and zero point are vectors
};
struct DequantizeAttrs {
  int64_t axis = -1;
};
struct RequantizeAttrs {
  int64_t axis = -1;
  std::string rounding = "None";
  std::string compute_dtype = "None";
  DType out_dtype = {};
};
/// qnn.simulated_quantize: the element type that is simulated is an input.
struct QnnSimulatedQuantizeAttrs {
  int64_t axis = -1;
};
/// qnn.add, qnn.subtract and qnn.mul.
struct BroadcastAttrs {
  int64_t lhs_axis = -1, rhs_axis = -1;
};
struct QnnConv2DTransposeAttrs {
  std::optional<int64_t> channels = {};
  std::optional<std::vector<int64_t>> kernel_size = {};
  std::vector<int64_t> strides{1, 1};
  std::vector<int64_t> output_padding{0, 0};
  std::vector<int64_t> padding{0, 0};
  std::vector<int64_t> dilation{1, 1};
  int64_t groups = 1;
  std::string data_layout = "NCHW";
  std::string kernel_layout = "OIHW";
  std::string out_layout = {};
  DType out_dtype = {};
};

template <>
const AttrSchema& attr_schema<QuantizeAttrs>();
template <>
const AttrSchema& attr_schema<DequantizeAttrs>();
template <>
const AttrSchema& attr_schema<RequantizeAttrs>();
template <>
const AttrSchema& attr_schema<QnnSimulatedQuantizeAttrs>();
template <>
const AttrSchema& attr_schema<BroadcastAttrs>();
template <>
const AttrSchema& attr_schema<QnnConv2DTransposeAttrs>();

}  // namespace baton
