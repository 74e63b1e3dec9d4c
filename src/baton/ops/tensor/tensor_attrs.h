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

struct SqueezeAttrs {
  std::optional<Ints> axis = {};  ///< None: every axis of extent 1
};

struct ConcatenateAttrs {
  int64_t axis = 0;
};

struct StridedSliceAttrs {
  std::optional<Ints> begin = {}, end = {}, strides = {};
  std::string slice_mode = "end";  ///< "size": `end` counts elements, -1 all
  std::optional<Ints> axes = {};   ///< None: the first axes
};

template <>
const AttrSchema& attr_schema<CastAttrs>();

template <>
const AttrSchema& attr_schema<InitOpAttrs>();

template <>
const AttrSchema& attr_schema<ReshapeAttrs>();

template <>
const AttrSchema& attr_schema<SqueezeAttrs>();

template <>
const AttrSchema& attr_schema<ConcatenateAttrs>();

template <>
const AttrSchema& attr_schema<StridedSliceAttrs>();

}  // namespace baton
