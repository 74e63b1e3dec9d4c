#pragma once
// Attributes that tensor operators share with their dynamic and virtual-machine forms. Names and defaults are Relay's.
#include "baton/ops/relations.h"
#include "baton/ops/tensor/tensor_attrs.h"

namespace baton {

struct ShapeOfAttrs {
  DType dtype = {};  ///< void: int32
};
struct OneHotAttrs {
  int64_t depth = 1;
  int64_t axis = -1;  ///< where the new axis stands
  DType dtype = {};
};
struct TileAttrs {
  Ints reps = {};
};
struct TopkAttrs {
  std::optional<int64_t> k = {};  ///< less than 1: all
  int64_t axis = -1;
  std::string ret_type = "both";  ///< "both", "values" or "indices"
  bool is_ascend = false;
  DType dtype = {};
};

template <>
const AttrSchema& attr_schema<ShapeOfAttrs>();
template <>
const AttrSchema& attr_schema<OneHotAttrs>();
template <>
const AttrSchema& attr_schema<TileAttrs>();
template <>
const AttrSchema& attr_schema<TopkAttrs>();

/// What topk returns for data whose axis has `count` elements left.
RelationStatus topk_result(RelationContext& ctx, const TopkAttrs& attrs, Dim count);
/// The shape of one_hot's result.
RelationStatus one_hot_result(RelationContext& ctx, const OneHotAttrs& attrs, Dim depth);

}  // namespace baton
