#pragma once
// Converts arrays of any element type to doubles.
#include <vector>

#include "baton/support/base/ndarray.h"

namespace baton::test {

/// All elements.
std::vector<double> numbers(const NDArray& array);
NDArray from_numbers(const std::vector<double>& values, const Shape& shape, DType type);

}  // namespace baton::test
