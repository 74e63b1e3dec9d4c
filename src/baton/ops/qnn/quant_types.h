#pragma once
// Shared by the relations of quantised operators. A quantised tensor represents (value - zero point) * scale;
// scale (float32) and zero point (int32) are separate tensors: scalars, or vectors with one value per
// channel. As in Relay, a tensor of one element serves as a scalar, and scales per channel may be float64.
#include <initializer_list>
#include <optional>
#include <vector>

#include "baton/ops/relations.h"

namespace baton {

inline constexpr DType kScaleType = DType::float_(32);
inline constexpr DType kZeroPointType = DType::int_(32);

/// Whether inputs first..last are tensors with known types; defer otherwise.
bool tensors_known(RelationContext& ctx, size_t first, size_t last);

/// Reports unless the element type of input `arg`, a known tensor, is among `allowed`.
bool check_dtype(RelationContext& ctx, int arg, std::initializer_list<DType> allowed);
/// Reports unless `dtype`, the value of attribute out_dtype, is among `allowed`.
bool check_out_dtype(RelationContext& ctx, DType dtype, std::initializer_list<DType> allowed);

/// Reports unless input `arg`, a known tensor, has one element of that type.
bool check_scalar(RelationContext& ctx, int arg, DType dtype);
/// The same for a pair of scale and zero point, at `scale` and `scale + 1`.
bool check_scalar_pair(RelationContext& ctx, int scale);
/// Reports unless input `arg`, a known tensor of that element type, is a scalar or a vector of `channels`
/// values.
bool check_per_channel(RelationContext& ctx, int arg, DType dtype, Dim channels);
/// Reports unless scale and zero point, at `scale` and `scale + 1`, are scalars or have one value for each
/// position along `axis` of input `data`. The axis is ignored when both are scalars.
bool check_pair_along(RelationContext& ctx, int scale, int data, int64_t axis);

/// The inputs of the quantised products are (data, weight, zero point of the data, of the weight, scale of
/// the data, of the weight). Checks the element types of all six, which are known, and of the result.
bool check_product_types(RelationContext& ctx, DType out_dtype);

}  // namespace baton
