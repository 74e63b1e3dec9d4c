#pragma once
// Attributes that only quantised operators have. Names, order and defaults are Relay's.
#include <cstdint>
#include <string>

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
/// qnn.simulated_quantize, where the element type that is simulated is an input, and the annotation of that
/// name.
struct SimulatedQuantizeAttrs {
  int64_t axis = -1;
};
/// qnn.add, qnn.subtract and qnn.mul.
struct BroadcastAttrs {
  int64_t lhs_axis = -1, rhs_axis = -1;
};

template <>
const AttrSchema& attr_schema<QuantizeAttrs>();
template <>
const AttrSchema& attr_schema<DequantizeAttrs>();
template <>
const AttrSchema& attr_schema<RequantizeAttrs>();
template <>
const AttrSchema& attr_schema<SimulatedQuantizeAttrs>();
template <>
const AttrSchema& attr_schema<BroadcastAttrs>();

}  // namespace baton
