#include "baton/ops/nn/conv/conv_nd_attrs.h"

namespace baton {

namespace {

template <class A>
void add_window(std::vector<AttrSpec<A>>& to) {
  to.push_back({"strides", &A::strides, "step along each spatial axis"});
  to.push_back({"padding", &A::padding,
                "zeros around the data: one value, one per axis, or all befores and then all afters"});
  to.push_back({"dilation", &A::dilation, "distance of the kernel's taps along each spatial axis"});
}
template <class A>
void add_kernel(std::vector<AttrSpec<A>>& to) {
  to.push_back({"channels", &A::channels, "number of output channels; None: read from the weight"});
  to.push_back({"kernel_size", &A::kernel_size, "extents of the kernel; None: read from the weight"});
}
template <class A>
void add_groups(std::vector<AttrSpec<A>>& to) {
  to.push_back({"groups", &A::groups, "channels are split into that many independent convolutions"});
}
template <class A>
void add_layouts(std::vector<AttrSpec<A>>& to) {
  to.push_back({"data_layout", &A::data_layout, "layout of the data"});
  to.push_back({"kernel_layout", &A::kernel_layout, "layout of the weight"});
  to.push_back({"out_layout", &A::out_layout, "layout of the result; empty: as the data"});
  to.push_back({"out_dtype", &A::out_dtype, "element type of the result; void: as the data"});
}

template <class A>
std::vector<AttrSpec<A>> conv_fields() {
  std::vector<AttrSpec<A>> fields;
  add_window(fields);
  add_groups(fields);
  add_kernel(fields);
  add_layouts(fields);
  return fields;
}

template <class A>
std::vector<AttrSpec<A>> transpose_fields() {
  std::vector<AttrSpec<A>> fields;
  add_kernel(fields);
  fields.push_back(
      {"strides", &A::strides, "step of the result along each spatial axis, for one step of the data"});
  fields.push_back({"output_padding", &A::output_padding,
                    "elements added to one side of the result, for each spatial axis"});
  fields.push_back(
      {"padding", &A::padding,
       "elements cut off the result: one value, one per axis, or all befores and then all afters"});
  fields.push_back({"dilation", &A::dilation, "distance of the kernel's taps along each spatial axis"});
  add_groups(fields);
  add_layouts(fields);
  return fields;
}

}  // namespace

template <>
const AttrSchema& attr_schema<Conv1DAttrs>() {
  static const AttrSchema schema =
      make_schema<Conv1DAttrs>("relay.attrs.Conv1DAttrs", conv_fields<Conv1DAttrs>());
  return schema;
}

template <>
const AttrSchema& attr_schema<Conv3DAttrs>() {
  static const AttrSchema schema =
      make_schema<Conv3DAttrs>("relay.attrs.Conv3DAttrs", conv_fields<Conv3DAttrs>());
  return schema;
}

template <>
const AttrSchema& attr_schema<Conv3DWinogradAttrs>() {
  static const AttrSchema schema = [] {
    auto fields = conv_fields<Conv3DWinogradAttrs>();
    fields.insert(fields.begin(), {"tile_size", &Conv3DWinogradAttrs::tile_size,
                                   "output of one tile along an axis", kNoDefault});
    return make_schema<Conv3DWinogradAttrs>("relay.attrs.Conv3DWinogradAttrs", std::move(fields));
  }();
  return schema;
}

template <>
const AttrSchema& attr_schema<Conv1DTransposeAttrs>() {
  using A = Conv1DTransposeAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.Conv1DTransposeAttrs", transpose_fields<A>());
  return schema;
}

template <>
const AttrSchema& attr_schema<Conv2DTransposeAttrs>() {
  using A = Conv2DTransposeAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.Conv2DTransposeAttrs", transpose_fields<A>());
  return schema;
}

template <>
const AttrSchema& attr_schema<Conv3DTransposeAttrs>() {
  using A = Conv3DTransposeAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.Conv3DTransposeAttrs", transpose_fields<A>());
  return schema;
}

template <>
const AttrSchema& attr_schema<DeformableConv2DAttrs>() {
  using A = DeformableConv2DAttrs;
  static const AttrSchema schema = [] {
    std::vector<AttrSpec<A>> fields;
    add_window(fields);
    fields.push_back({"deformable_groups", &A::deformable_groups,
                      "channels are split into that many groups with offsets of their own"});
    add_groups(fields);
    add_kernel(fields);
    add_layouts(fields);
    return make_schema<A>("relay.attrs.DeformableConv2DAttrs", std::move(fields));
  }();
  return schema;
}

}  // namespace baton
