#include "baton/ops/nn/pool/pool_attrs.h"

namespace baton {

namespace {

template <class A>
std::vector<AttrSpec<A>> pool2d_fields() {
  return {{"pool_size", &A::pool_size, "height and width of the window", kNoDefault},
          {"strides", &A::strides, "step along height and width"},
          {"dilation", &A::dilation, "distance of the window's cells along height and width"},
          {"padding", &A::padding, "cells around the data: p, or [h, w], or [top, left, bottom, right]"},
          {"layout", &A::layout, "layout of the data, e.g. NCHW, NHWC, NCHW16c"},
          {"out_layout", &A::out_layout, "kept for Relay's sake; the result has the layout of the data"},
          {"ceil_mode", &A::ceil_mode,
           "the result's extents are rounded up: the last window may reach over the edge"}};
}

}  // namespace

template <>
const AttrSchema& attr_schema<MaxPool2DAttrs>() {
  static const AttrSchema schema =
      make_schema<MaxPool2DAttrs>("relay.attrs.MaxPool2DAttrs", pool2d_fields<MaxPool2DAttrs>());
  return schema;
}

template <>
const AttrSchema& attr_schema<AvgPool2DAttrs>() {
  static const AttrSchema schema = [] {
    auto fields = pool2d_fields<AvgPool2DAttrs>();
    fields.push_back(
        {"count_include_pad", &AvgPool2DAttrs::count_include_pad, "whether the mean counts padded cells"});
    return make_schema<AvgPool2DAttrs>("relay.attrs.AvgPool2DAttrs", std::move(fields));
  }();
  return schema;
}

template <>
const AttrSchema& attr_schema<GlobalPool2DAttrs>() {
  using A = GlobalPool2DAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.GlobalPool2DAttrs",
      {{"layout", &A::layout, "layout of the data, e.g. NCHW, NHWC, NCHW16c"},
       {"out_layout", &A::out_layout, "kept for Relay's sake; the result has the layout of the data"}});
  return schema;
}

}  // namespace baton
