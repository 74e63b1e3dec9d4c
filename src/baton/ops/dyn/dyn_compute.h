#pragma once
// What operators do whose shape is a value: the extents of their results, and computes for results of known
// extents.
#include "baton/ir/rules/shape_rule.h"
#include "baton/ops/compute_util.h"
#include "baton/ops/nn/pad_attrs.h"
#include "baton/ops/tensor/dynamic_forms.h"

namespace baton {

using Shapes = std::vector<std::vector<int64_t>>;
using Arrays = std::vector<NDArray>;

/// Input `kIndex` is the shape.
template <int kIndex>
Shapes shape_given(const Attrs&, const Arrays& inputs) {
  return {integers_of(inputs[kIndex])};
}
Shapes dyn_reshape_shapes(const Attrs& attrs, const Arrays& inputs);
Shapes dyn_expand_dims_shapes(const Attrs& attrs, const Arrays& inputs);
Shapes dyn_squeeze_shapes(const Attrs& attrs, const Arrays& inputs);
Shapes dyn_strided_slice_shapes(const Attrs& attrs, const Arrays& inputs);
Shapes dyn_tile_shapes(const Attrs& attrs, const Arrays& inputs);
Shapes dyn_pad_shapes(const Attrs& attrs, const Arrays& inputs);
Shapes dyn_one_hot_shapes(const Attrs& attrs, const Arrays& inputs);
Shapes dyn_topk_shapes(const Attrs& attrs, const Arrays& inputs);
Shapes dyn_resize2d_shapes(const Attrs& attrs, const Arrays& inputs);
Shapes dyn_upsampling_shapes(const Attrs& attrs, const Arrays& inputs);
Shapes dyn_upsampling3d_shapes(const Attrs& attrs, const Arrays& inputs);

void dyn_broadcast_compute(Compute& c);
/// Every element is input 0 (a scalar), or `value` when there is none.
void dyn_full_compute(Compute& c);
void dyn_constant_compute(Compute& c, int value);
void dyn_strided_slice_compute(Compute& c, const StridedSliceAttrs& attrs);
void dyn_tile_compute(Compute& c);
void dyn_pad_compute(Compute& c, const PadAttrs& attrs);

}  // namespace baton
