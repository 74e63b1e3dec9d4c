#pragma once
// Shared by operators with dynamic shape operands: types with unknown extents, and shape functions.
#include "baton/ir/rules/shape_rule.h"
#include "baton/ops/relations.h"

namespace baton {

using Shapes = std::vector<std::vector<int64_t>>;

using Arrays = std::vector<NDArray>;

/// The shape is the value of input `kIndex`.
template <int kIndex>
Shapes shape_given(const Attrs&, const Arrays& inputs) {
  return {integers_of(inputs[kIndex])};
}

/// The single number in `array`; NotSupported, naming `what`, for another number of elements.
int64_t scalar_of(const NDArray& array, const char* what);
/// `axis` of a tensor of rank `rank`, normalized; NotSupported, naming `op`, when out of range.
int checked_place(int64_t axis, int64_t rank, const char* op);
std::string numbers_text(const std::vector<int64_t>& values);

/// The result has one `?` per element of the vector of extents, input `arg`.
RelationStatus shaped_relation(RelationContext& ctx, size_t arg, DType dtype);
/// The same, of input 1 and with the element type of input 0.
RelationStatus data_shaped_relation(RelationContext& ctx);

}  // namespace baton
