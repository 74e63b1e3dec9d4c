#include "baton/ops/qnn/quant_types.h"

#include <algorithm>

namespace baton {

namespace {

std::string names_of(std::initializer_list<DType> types) {
  std::string names;
  for (const DType& type : types) names += (names.empty() ? "" : ", ") + type.str();
  return names;
}

// One element, as a scalar or under axes of extent 1.
bool is_single(const TensorTypeNode& tensor) {
  return std::ranges::all_of(tensor.shape(), [](const Dim& dim) { return dim == Dim(1); });
}

// Scales per channel may be float64 as well.
bool check_element(RelationContext& ctx, int arg, DType dtype) {
  const TensorTypeNode& tensor = *ctx.tensor(arg);
  if (tensor.dtype() == dtype) return true;
  if (dtype == kScaleType && tensor.dtype() == DType::float_(64) && tensor.rank() > 0) return true;
  fail_arg(ctx, arg,
           "elements of type " + dtype.str() + " are needed here, got " + type_text(ctx.input(arg)));
  return false;
}

}  // namespace

bool tensors_known(RelationContext& ctx, size_t first, size_t last) {
  for (size_t i = first; i <= last; ++i)
    if (!ctx.tensor(i)) return false;
  return true;
}

bool check_dtype(RelationContext& ctx, int arg, std::initializer_list<DType> allowed) {
  if (std::find(allowed.begin(), allowed.end(), ctx.tensor(arg)->dtype()) != allowed.end()) return true;
  fail_arg(ctx, arg,
           "the element type must be one of " + names_of(allowed) + ", got " + type_text(ctx.input(arg)));
  return false;
}

bool check_out_dtype(RelationContext& ctx, DType dtype, std::initializer_list<DType> allowed) {
  if (std::find(allowed.begin(), allowed.end(), dtype) != allowed.end()) return true;
  fail_attr(ctx, "out_dtype", attr_text(AttrValue(dtype)), "it must be one of " + names_of(allowed));
  return false;
}

bool check_scalar(RelationContext& ctx, int arg, DType dtype) {
  if (!check_element(ctx, arg, dtype)) return false;
  if (is_single(*ctx.tensor(arg))) return true;
  fail_arg(ctx, arg, "a scalar is needed here, got " + type_text(ctx.input(arg)));
  return false;
}

bool check_scalar_pair(RelationContext& ctx, int scale) {
  return check_scalar(ctx, scale, kScaleType) && check_scalar(ctx, scale + 1, kZeroPointType);
}

bool check_per_channel(RelationContext& ctx, int arg, DType dtype, Dim channels) {
  if (!check_element(ctx, arg, dtype)) return false;
  const TensorTypeNode& tensor = *ctx.tensor(arg);
  if (is_single(tensor)) return true;
  return ctx.assign(arg, tensor_type(std::vector<Dim>{channels}, tensor.dtype())) != kFailed;
}

bool check_pair_along(RelationContext& ctx, int scale, int data, int64_t axis) {
  const bool scalars = is_single(*ctx.tensor(scale)) && is_single(*ctx.tensor(scale + 1));
  if (scalars) return check_scalar_pair(ctx, scale);
  const TensorTypeNode& tensor = *ctx.tensor(data);
  const auto at = checked_axis(ctx, axis, tensor.rank(), data);
  if (!at) return false;
  const Dim channels = tensor.shape()[*at];
  return check_per_channel(ctx, scale, kScaleType, channels) &&
         check_per_channel(ctx, scale + 1, kZeroPointType, channels);
}

bool check_product_types(RelationContext& ctx, DType out_dtype) {
  return check_dtype(ctx, 0, {DType::int_(8), DType::uint_(8), DType::int_(16)}) &&
         check_dtype(ctx, 1, {DType::int_(8), DType::uint_(8)}) &&
         check_out_dtype(ctx, out_dtype, {DType::int_(16), DType::int_(32), DType::int_(64)}) &&
         check_scalar(ctx, 2, kZeroPointType) && check_element(ctx, 3, kZeroPointType) &&
         check_scalar(ctx, 4, kScaleType) && check_element(ctx, 5, kScaleType);
}

}  // namespace baton
