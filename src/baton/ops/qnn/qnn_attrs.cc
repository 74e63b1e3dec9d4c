#include "baton/ops/qnn/qnn_attrs.h"

namespace baton {

namespace {
constexpr const char* kAxisDoc = "axis of the channels, when scale and zero point are vectors";
}

template <>
const AttrSchema& attr_schema<QuantizeAttrs>() {
  using A = QuantizeAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.QuantizeAttrs",
      {{"out_dtype", &A::out_dtype, "element type of the result", kNoDefault}, {"axis", &A::axis, kAxisDoc}});
  return schema;
}

template <>
const AttrSchema& attr_schema<DequantizeAttrs>() {
  using A = DequantizeAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.DequantizeAttrs", {{"axis", &A::axis, kAxisDoc}});
  return schema;
}

template <>
const AttrSchema& attr_schema<RequantizeAttrs>() {
  using A = RequantizeAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.RequantizeAttrs",
      {{"axis", &A::axis, kAxisDoc},
       {"rounding", &A::rounding, "UPWARD or TONEAREST (halves away from zero); None: the configured one"},
       {"compute_dtype", &A::compute_dtype, "type of the arithmetic in between: int64, float32 or float64; None: the configured one"},
       {"out_dtype", &A::out_dtype, "element type of the result"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<QnnSimulatedQuantizeAttrs>() {
  using A = QnnSimulatedQuantizeAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.SimulatedQuantizeAttrs", {{"axis", &A::axis, kAxisDoc}});
  return schema;
}

template <>
const AttrSchema& attr_schema<BroadcastAttrs>() {
  using A = BroadcastAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.BroadcastAttrs",
      {{"lhs_axis", &A::lhs_axis, "axis of the channels of lhs, when its scale or zero point is a vector"},
       {"rhs_axis", &A::rhs_axis, "axis of the channels of rhs, when its scale or zero point is a vector"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<QnnConv2DTransposeAttrs>() {
  using A = QnnConv2DTransposeAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.Conv2DTransposeAttrs",
      {{"channels", &A::channels, "number of output channels; None: read from the weight"},
       {"kernel_size", &A::kernel_size, "height and width of the kernel; None: read from the weight"},
       {"strides", &A::strides, "distance of the data's elements in the result, along height and width"},
       {"output_padding", &A::output_padding, "rows and columns added at the end of the result"},
       {"padding", &A::padding, "rows and columns cut off the result: p, or [h, w], or [top, left, bottom, right]"},
       {"dilation", &A::dilation, "distance of the kernel's taps along height and width"},
       {"groups", &A::groups, "channels are split into that many independent convolutions"},
       {"data_layout", &A::data_layout, "layout of the data, e.g. NCHW, NHWC"},
       {"kernel_layout", &A::kernel_layout, "layout of the weight, whose I are the data's channels: e.g. IOHW"},
       {"out_layout", &A::out_layout, "layout of the result; empty: as the data"},
       {"out_dtype", &A::out_dtype, "element type of the result; void: as the data"}});
  return schema;
}

}  // namespace baton
