#pragma once
// Shared by tensor operators and their dynamic and VM forms. Names and defaults of attributes are Relay's.
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

/// A slice of one axis: elements first, first + step, ..., `count` of them.
struct Slice {
  int64_t first = 0, step = 1, count = 0;
};
/// The k-th entry of begin, end and strides applied to an axis of `extent`, with numpy's clamping.
Slice slice_of(const StridedSliceAttrs& attrs, size_t k, int64_t extent);

/// The result type of topk for data whose axis has `count` elements left.
RelationStatus topk_result(RelationContext& ctx, const TopkAttrs& attrs, Dim count);
/// The shape of one_hot's result.
RelationStatus one_hot_result(RelationContext& ctx, const OneHotAttrs& attrs, Dim depth);

/// Reports unless input 0 are indices (), (n) or (n, rank) into a tensor of rank `rank`, and input 1 one
/// value for each, or one for all. True while a type is unknown.
bool check_sparse_indices(RelationContext& ctx, int64_t rank);

class Compute;
void shape_of_compute(Compute& c, const ShapeOfAttrs& attrs);
void one_hot_compute(Compute& c, const OneHotAttrs& attrs);
/// Inputs: indices (a scalar, a vector or one row per value), values (or one for all), the default value.
void sparse_to_dense_compute(Compute& c);

}  // namespace baton
