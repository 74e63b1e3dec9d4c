#include "baton/ops/qnn/qnn_attrs.h"

namespace baton {

namespace {
constexpr const char* kAxisDoc = "axis of the channels, when scale and zero point are vectors";
}

template <>
const AttrSchema& attr_schema<QuantizeAttrs>() {
  using A = QuantizeAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.QuantizeAttrs",
      {{"out_dtype", &A::out_dtype, "element type of the result", kNoDefault}, {"axis", &A::axis, kAxisDoc}});
  return schema;
}

template <>
const AttrSchema& attr_schema<DequantizeAttrs>() {
  using A = DequantizeAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.DequantizeAttrs", {{"axis", &A::axis, kAxisDoc}});
  return schema;
}

template <>
const AttrSchema& attr_schema<RequantizeAttrs>() {
  using A = RequantizeAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.RequantizeAttrs",
      {{"axis", &A::axis, kAxisDoc},
       {"rounding", &A::rounding, "UPWARD or TONEAREST (halves away from zero); None: the configured one"},
       {"compute_dtype", &A::compute_dtype,
        "type of the arithmetic in between: int64, float32 or float64; None: the configured one"},
       {"out_dtype", &A::out_dtype, "element type of the result"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<SimulatedQuantizeAttrs>() {
  using A = SimulatedQuantizeAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.SimulatedQuantizeAttrs", {{"axis", &A::axis, kAxisDoc}});
  return schema;
}

template <>
const AttrSchema& attr_schema<BroadcastAttrs>() {
  using A = BroadcastAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.BroadcastAttrs",
      {{"lhs_axis", &A::lhs_axis, "axis of the channels of lhs, when its scale or zero point is a vector"},
       {"rhs_axis", &A::rhs_axis, "axis of the channels of rhs, when its scale or zero point is a vector"}});
  return schema;
}

}  // namespace baton
