#pragma once
// Scales chosen by a data set. The program is run in float on samples of its input; every value that is to be
// rounded then has a distribution, and its scale is the largest magnitude that a rounded value keeps.
#include <cstddef>

#include "baton/ir/module.h"
#include "baton/support/base/ndarray.h"

namespace baton {

/// How many values QuantizeCalibrate needs a scale for in `module`, the result of QuantizeAnnotate: all that
/// are rounded, but for weights.
size_t count_rounded_values(const IRModule& module);

/// A module whose main has the parameters that the program had before QuantizeAnnotate, and returns a tuple
/// of the rounded values `first` to `first + count`, as they are before rounding. UsageError when there are
/// fewer.
IRModule rounded_values(const IRModule& module, size_t first, size_t count);

/// The scale that loses the least information (Kullback and Leibler's divergence) between the distribution of
/// `values`, cut at the scale, and the same in 255 steps. `values`: float32, finite; Error otherwise.
double scale_by_divergence(const NDArray& values);

/// The magnitude that 99.999 % of `values` stay below. `values`: float32, finite; Error otherwise.
double scale_by_percentile(const NDArray& values);

}  // namespace baton
