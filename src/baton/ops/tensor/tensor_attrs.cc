#include "baton/ops/tensor/tensor_attrs.h"

namespace baton {

template <>
const AttrSchema& attr_schema<CastAttrs>() {
  using A = CastAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.CastAttrs", {{"dtype", &A::dtype, "the element type of the result", kNoDefault}});
  return schema;
}

template <>
const AttrSchema& attr_schema<ClipAttrs>() {
  using A = ClipAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.ClipAttrs", {{"a_min", &A::a_min, "smaller values become this", kNoDefault},
                                {"a_max", &A::a_max, "larger values become this", kNoDefault}});
  return schema;
}

template <>
const AttrSchema& attr_schema<InitOpAttrs>() {
  using A = InitOpAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.InitOpAttrs",
                     {{"shape", &A::shape, "the shape of the result", kNoDefault},
                      {"dtype", &A::dtype, "the element type of the result; void: as the input"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<ReshapeAttrs>() {
  using A = ReshapeAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.ReshapeAttrs",
                     {{"newshape", &A::newshape,
                       "the shape of the result: 0 copies an extent, -1 is inferred, -2 copies the rest, -3 "
                       "joins two extents, -4 splits one into the two numbers that follow",
                       kNoDefault},
                      {"allowzero", &A::allowzero, "whether 0 in newshape means the extent 0"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<ReshapeLikeAttrs>() {
  using A = ReshapeLikeAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.ReshapeLikeAttrs",
                     {{"lhs_begin", &A::lhs_begin, "the first axis of the data that is replaced"},
                      {"lhs_end", &A::lhs_end, "one past the last of these; None: all"},
                      {"rhs_begin", &A::rhs_begin, "the first axis of shape_like that is taken"},
                      {"rhs_end", &A::rhs_end, "one past the last of these; None: all"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<ExpandDimsAttrs>() {
  using A = ExpandDimsAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.ExpandDimsAttrs",
      {{"axis", &A::axis, "where the new axes go; negative counts from the back of the result", kNoDefault},
       {"num_newaxis", &A::num_newaxis, "how many"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<SqueezeAttrs>() {
  using A = SqueezeAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.SqueezeAttrs", {{"axis", &A::axis, "the axes to remove; None: every one of extent 1"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<TransposeAttrs>() {
  using A = TransposeAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.TransposeAttrs",
                     {{"axes", &A::axes,
                       "the axis of the data that each axis of the result is; None: reversed", kNoDefault}});
  return schema;
}

template <>
const AttrSchema& attr_schema<LayoutTransformAttrs>() {
  using A = LayoutTransformAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.LayoutTransformAttrs",
                     {{"src_layout", &A::src_layout, "the layout of the data", kNoDefault},
                      {"dst_layout", &A::dst_layout, "the layout of the result", kNoDefault}});
  return schema;
}

template <>
const AttrSchema& attr_schema<SplitAttrs>() {
  using A = SplitAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.SplitAttrs",
      {{"indices_or_sections", &A::indices_or_sections,
        "how many equal parts, or the ascending positions where the second and later parts begin",
        kNoDefault},
       {"axis", &A::axis, "the axis that is split"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<ConcatenateAttrs>() {
  using A = ConcatenateAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.ConcatenateAttrs", {{"axis", &A::axis, "the axis along which the tensors are joined"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<StackAttrs>() {
  using A = StackAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.StackAttrs", {{"axis", &A::axis, "where the new axis goes"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<StridedSliceAttrs>() {
  using A = StridedSliceAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.StridedSliceAttrs",
      {{"begin", &A::begin, "the first index per axis", kNoDefault},
       {"end", &A::end,
        "one past the last index per axis, or with slice_mode \"size\" the number of elements", kNoDefault},
       {"strides", &A::strides, "the step per axis; missing ones are 1", kNoDefault},
       {"slice_mode", &A::slice_mode, "\"end\" or \"size\""},
       {"axes", &A::axes, "the axes that begin, end and strides speak of; None: the first ones",
        kNoDefault}});
  return schema;
}

template <>
const AttrSchema& attr_schema<TakeAttrs>() {
  using A = TakeAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.TakeAttrs", {{"batch_dims", &A::batch_dims, "leading axes that data and indices share"},
                                {"axis", &A::axis, "the axis that is indexed; None: the flattened data"},
                                {"mode", &A::mode,
                                 "what becomes of an index out of range: \"clip\" goes to the border, "
                                 "\"wrap\" counts around, \"fast\" means there is none"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<ReduceAttrs>() {
  using A = ReduceAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.ReduceAttrs", {{"axis", &A::axis, "the axes to reduce; None or []: all"},
                                  {"keepdims", &A::keepdims, "whether reduced axes stay, with extent 1"},
                                  {"exclude", &A::exclude, "whether `axis` names the axes to keep instead"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<ArgReduceAttrs>() {
  using A = ArgReduceAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.ArgReduceAttrs",
      {{"axis", &A::axis, "the axes to reduce; None or []: all"},
       {"keepdims", &A::keepdims, "whether reduced axes stay, with extent 1"},
       {"select_last_index", &A::select_last_index, "whether the last of equal values counts, not the first"},
       {"exclude", &A::exclude, "whether `axis` names the axes to keep instead"}});
  return schema;
}

}  // namespace baton
