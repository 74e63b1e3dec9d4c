#include "baton/ops/shared/conv_attrs.h"

namespace baton {

namespace {

// The fields that all 2-D convolutions share, in Relay's order.
template <class A>
std::vector<AttrSpec<A>> conv2d_fields() {
  return {{"strides", &A::strides, "step along height and width"},
          {"padding", &A::padding, "zeros around the data: p, or [h, w], or [top, left, bottom, right]"},
          {"dilation", &A::dilation, "distance of the kernel's taps along height and width"},
          {"groups", &A::groups, "channels are split into that many independent convolutions"},
          {"channels", &A::channels, "number of output channels; None: read from the weight"},
          {"kernel_size", &A::kernel_size, "height and width of the kernel; None: read from the weight"},
          {"data_layout", &A::data_layout, "layout of the data, e.g. NCHW, NHWC, NCHW16c"},
          {"kernel_layout", &A::kernel_layout, "layout of the weight, e.g. OIHW, HWIO, OIHW16i16o"},
          {"out_layout", &A::out_layout, "layout of the result; empty: as the data"},
          {"out_dtype", &A::out_dtype, "element type of the result; void: as the data"}};
}

}  // namespace

template <>
const AttrSchema& attr_schema<Conv2DAttrs>() {
  static const AttrSchema schema =
      make_schema<Conv2DAttrs>("relay.attrs.Conv2DAttrs", conv2d_fields<Conv2DAttrs>());
  return schema;
}

template <>
const AttrSchema& attr_schema<Conv2DWinogradAttrs>() {
  static const AttrSchema schema = [] {
    auto fields = conv2d_fields<Conv2DWinogradAttrs>();
    fields.insert(fields.begin(), {"tile_size", &Conv2DWinogradAttrs::tile_size,
                                   "rows and columns of output per tile", kNoDefault});
    return make_schema<Conv2DWinogradAttrs>("relay.attrs.Conv2DWinogradAttrs", std::move(fields));
  }();
  return schema;
}

template <>
const AttrSchema& attr_schema<ConvWinogradWeightTransformAttrs>() {
  using A = ConvWinogradWeightTransformAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.ConvWinogradWeightTransformAttrs",
                     {{"tile_size", &A::tile_size, "rows and columns of output per tile", kNoDefault}});
  return schema;
}

std::optional<Padding2D> padding_2d(const std::vector<int64_t>& p) {
  switch (p.size()) {
    case 1:
      return Padding2D{p[0], p[0], p[0], p[0]};
    case 2:
      return Padding2D{p[0], p[1], p[0], p[1]};
    case 4:
      return Padding2D{p[0], p[1], p[2], p[3]};
    default:
      return std::nullopt;
  }
}

}  // namespace baton
