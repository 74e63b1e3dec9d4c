#pragma once
// Sorting along an axis, as Halide Funcs.
#include "baton/ops/compute_util.h"

namespace baton {

/// A tensor sorted stably along an axis. The Func is a pair of an element and its original position (int32),
/// in Halide order.
Halide::Func sorted_pairs(Compute& c, const Tensor& data, int axis, bool ascending);

/// The same for a Func in Halide order, of shape `shape` in Relay order.
Halide::Func sorted_pairs(Compute& c, const Halide::Func& values, const std::vector<Dim>& shape, int axis,
                          bool ascending);

struct TopkAttrs;
/// The first elements of the sorted data, as many as the result has: values, positions or both.
void topk_compute(Compute& c, const TopkAttrs& attrs);

}  // namespace baton
