#pragma once
// Attributes of the operators on tensors. Names, order and defaults are Relay's.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "baton/ir/attrs.h"

namespace baton {

using Ints = std::vector<int64_t>;

struct CastAttrs {
  DType dtype = {};
};
struct ClipAttrs {
  double a_min = 0, a_max = 0;
};
/// zeros, ones, full and broadcast_to.
struct InitOpAttrs {
  std::optional<Ints> shape = {};
  DType dtype = {};
};
struct ReshapeAttrs {
  Ints newshape =
      {};  ///< 0 copies an extent, -1 is inferred, -2 copies the rest, -3 joins two, -4 splits one
  bool allowzero = false;  ///< 0 means the extent 0
};
struct ReshapeLikeAttrs {
  int64_t lhs_begin = 0;
  std::optional<int64_t> lhs_end = {};
  int64_t rhs_begin = 0;
  std::optional<int64_t> rhs_end = {};
};
struct ExpandDimsAttrs {
  int64_t axis = 0;
  int64_t num_newaxis = 1;
};
struct SqueezeAttrs {
  std::optional<Ints> axis = {};  ///< None: every axis of extent 1
};
struct TransposeAttrs {
  std::optional<Ints> axes = {};  ///< None: reversed
};
struct LayoutTransformAttrs {
  std::string src_layout = {}, dst_layout = {};
};
struct SplitAttrs {
  AttrValue indices_or_sections =
      {};  ///< a number of equal parts, or the ascending positions where parts begin
  int64_t axis = 0;
};
struct ConcatenateAttrs {
  int64_t axis = 0;
};
struct StackAttrs {
  int64_t axis = 0;
};
struct StridedSliceAttrs {
  std::optional<Ints> begin = {}, end = {}, strides = {};
  std::string slice_mode = "end";  ///< "size": `end` counts elements, -1 all
  std::optional<Ints> axes = {};   ///< None: the first axes
};
struct TakeAttrs {
  int64_t batch_dims = 0;
  std::optional<int64_t> axis = {};  ///< None: data is flattened
  std::string mode = "clip";         ///< "clip", "wrap" or "fast" (indices are known to be good)
};
/// sum, mean, max, min, prod, all, any.
struct ReduceAttrs {
  std::optional<Ints> axis = {};  ///< None or []: all
  bool keepdims = false;
  bool exclude = false;  ///< reduces the axes that are not named
};
/// argmax and argmin.
struct ArgReduceAttrs {
  std::optional<Ints> axis = {};
  bool keepdims = false;
  bool select_last_index = false;
  bool exclude = false;
};

template <>
const AttrSchema& attr_schema<CastAttrs>();
template <>
const AttrSchema& attr_schema<ClipAttrs>();
template <>
const AttrSchema& attr_schema<InitOpAttrs>();
template <>
const AttrSchema& attr_schema<ReshapeAttrs>();
template <>
const AttrSchema& attr_schema<ReshapeLikeAttrs>();
template <>
const AttrSchema& attr_schema<ExpandDimsAttrs>();
template <>
const AttrSchema& attr_schema<SqueezeAttrs>();
template <>
const AttrSchema& attr_schema<TransposeAttrs>();
template <>
const AttrSchema& attr_schema<LayoutTransformAttrs>();
template <>
const AttrSchema& attr_schema<SplitAttrs>();
template <>
const AttrSchema& attr_schema<ConcatenateAttrs>();
template <>
const AttrSchema& attr_schema<StackAttrs>();
template <>
const AttrSchema& attr_schema<StridedSliceAttrs>();
template <>
const AttrSchema& attr_schema<TakeAttrs>();
template <>
const AttrSchema& attr_schema<ReduceAttrs>();
template <>
const AttrSchema& attr_schema<ArgReduceAttrs>();

}  // namespace baton
