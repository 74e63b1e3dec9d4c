#include "baton/ops/dyn/dyn_shapes.h"

#include "baton/ops/tensor/tensor_relations.h"
#include "baton/support/diagnostic.h"

namespace baton {

std::string numbers_text(const std::vector<int64_t>& values) { return attr_text(AttrValue(values)); }

int64_t scalar_of(const NDArray& array, const char* what) {
  const std::vector<int64_t> values = integers_of(array);
  if (values.size() != 1)
    throw NotSupported(std::string(what) + " must be one number, got " + numbers_text(values));
  return values[0];
}

int checked_place(int64_t axis, int64_t rank, const char* op) {
  const int64_t at = axis < 0 ? axis + rank : axis;
  if (at < 0 || at >= rank)
    throw NotSupported(std::string(op) + ": axis " + std::to_string(axis) + " of a tensor of rank " +
                       std::to_string(rank));
  return static_cast<int>(at);
}

RelationStatus shaped_relation(RelationContext& ctx, size_t arg, DType dtype) {
  RelationStatus status = kDone;
  auto shape = any_shape(ctx, arg, &status);
  if (!shape) return status;
  if (dtype.is_void()) return fail_attr(ctx, "dtype", "\"\"", "an element type is needed");
  return ctx.assign_result(tensor_type(std::move(*shape), dtype));
}

RelationStatus data_shaped_relation(RelationContext& ctx) {
  const TensorTypeNode* data = ctx.tensor(0);
  return data ? shaped_relation(ctx, 1, data->dtype()) : kDefer;
}

}  // namespace baton
