#pragma once
// What computes are made of. Included by .cc files of ops, schedule and codegen only.
#include <vector>

#include "baton/ops/compute.h"

namespace baton {

using Index = std::vector<Halide::Expr>;

/// The part of an index into a broadcast result that is meant for `in`: aligned at the right, 0 where `in`
/// has extent 1.
inline Index broadcast_index(const Tensor& in, const Index& out) {
  Index index(out.end() - in.rank(), out.end());
  for (int axis = 0; axis < in.rank(); ++axis)
    if (in.extent(axis) == 1) index[axis] = 0;
  return index;
}
inline Halide::Expr broadcast_at(const Tensor& in, const Index& out) { return in(broadcast_index(in, out)); }

inline Halide::Expr cast_to(DType dtype, Halide::Expr value) {
  return Halide::cast(halide_type(dtype), std::move(value));
}
inline Halide::Expr constant_of(DType dtype, double value) {
  return Halide::Internal::make_const(halide_type(dtype), value);
}

/// An int64 extent as Halide's int32; user input must have been checked before.
inline int as_int(int64_t value) {
  BATON_CHECK(value >= INT32_MIN && value <= INT32_MAX, "an extent does not fit into 32 bits");
  return static_cast<int>(value);
}

/// The smallest and largest values of a type, as a reduction starts with them: -inf and inf for floats.
inline Halide::Expr lowest(Halide::Type type) {
  return type.is_float() ? cast(type, Halide::Expr(-INFINITY)) : type.min();
}
inline Halide::Expr highest(Halide::Type type) {
  return type.is_float() ? cast(type, Halide::Expr(INFINITY)) : type.max();
}

/// The type to add up values of `dtype` in: float32 for the 16-bit floats.
inline Halide::Type sum_type(DType dtype) {
  const Halide::Type type = halide_type(dtype);
  return type.is_float() && type.bits() < 32 ? Halide::Float(32) : type;
}

/// A copy of `from` as stage "out": the last stage of an operator that reduces. It costs nothing where a
/// template schedules it, since it is computed where it is stored, and with the elementwise operators that
/// are fused behind it.
inline Halide::Func copy_stage(Compute& c, const Halide::Func& from) {
  Halide::Func out = c.stage("out");
  const Axes i(from.dimensions());
  const std::vector<Halide::Var> at = i.reversed();
  out(at) = from(std::vector<Halide::Expr>(at.begin(), at.end()));
  return out;
}

}  // namespace baton
