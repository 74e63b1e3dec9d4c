// Reproducible pseudo-random tensors: every machine computes the same values from a name, a shape and a type.
//
//   key = "<name>|<dtype>|<d0>x<d1>x..."; seed = FNV-1a 64 of the key; z(i) = splitmix64 of seed, i = 0, 1,
//   ... row-major; u(i) = (z(i) >> 11) * 2^-53; float: lo + (hi - lo) * u in double, then cast; int: lo +
//   floor(u * (hi - lo)); bool: u < 0.5.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "baton/support/base/dtype.h"
#include "baton/support/base/ndarray.h"

namespace baton {

/// A half-open range of values; ignored for bool.
struct ValueRange {
  double lo = 0;
  double hi = 0;
};

/// [-1, 1) for floats, [0, 10) for integers.
ValueRange default_range(DType dtype);

/// The seed of the generator for one tensor.
uint64_t tensor_seed(std::string_view name, std::span<const int64_t> shape, DType dtype);

/// The tensor of that name. Undefined when out of memory, or for types without values (handle, void,
/// vectors).
NDArray tensor_value(std::string_view name, const Shape& shape, DType dtype, ValueRange range);
NDArray tensor_value(std::string_view name, const Shape& shape, DType dtype);

/// The value of a model's parameter: floats in [-0.1, 0.1), those whose name ends in `_var` or `gamma` in
/// [0.5, 1.5), integers in their default range.
NDArray parameter_value(std::string_view name, const Shape& shape, DType dtype);

}  // namespace baton
