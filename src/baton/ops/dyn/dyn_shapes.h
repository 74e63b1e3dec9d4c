#pragma once
// What operators share whose shape is a value: types of unknown extents, and what the extents are read from.
#include "baton/ir/rules/shape_rule.h"
#include "baton/ops/relations.h"

namespace baton {

using Shapes = std::vector<std::vector<int64_t>>;

using Arrays = std::vector<NDArray>;

/// Input `kIndex` is the shape.
template <int kIndex>
Shapes shape_given(const Attrs&, const Arrays& inputs) {
  return {integers_of(inputs[kIndex])};
}

/// The one number in `array`, which `what` must be; NotSupported where there are more or none.
int64_t scalar_of(const NDArray& array, const char* what);
/// `axis` of a tensor of rank `rank`, from the front; NotSupported, by the name `op`, where there is none.
int checked_place(int64_t axis, int64_t rank, const char* op);
std::string numbers_text(const std::vector<int64_t>& values);

/// As many `?` as the vector of extents, input `arg`, is long.
RelationStatus shaped_relation(RelationContext& ctx, size_t arg, DType dtype);
/// The same, of input 1 and with the element type of input 0.
RelationStatus data_shaped_relation(RelationContext& ctx);

}  // namespace baton
