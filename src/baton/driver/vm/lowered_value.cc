#include "baton/driver/vm/lowered_value.h"

#include <algorithm>

namespace baton::vm {

int device_for(const Type& type, int device) {
  const auto* tensor = as_type<TensorTypeNode>(type);
  if (!tensor) return device;
  return tensor->is_static() && !(tensor->rank() == 0 && is_integer_kind(tensor->dtype())) ? device : 1;
}

LoweredRef in_register(Register where, Type type, int device) {
  device = device_for(type, device);
  return std::make_shared<LoweredValue>(LoweredValue{
      .kind = LoweredValue::Kind::kRegister, .where = where, .type = std::move(type), .device = device});
}

LoweredRef tuple_of(std::vector<LoweredRef> fields, Type type) {
  return std::make_shared<LoweredValue>(
      LoweredValue{.kind = LoweredValue::Kind::kTuple, .type = std::move(type), .fields = std::move(fields)});
}

LoweredRef pending_of(const Type& type, int device) {
  const auto* tuple = as_type<TupleTypeNode>(type);
  if (!tuple)
    return std::make_shared<LoweredValue>(
        LoweredValue{.kind = LoweredValue::Kind::kPending, .type = type, .device = device});
  std::vector<LoweredRef> fields;
  for (const Type& field : tuple->fields()) fields.push_back(pending_of(field, device));
  return tuple_of(std::move(fields), type);
}

void flatten(const LoweredRef& value, std::vector<LoweredRef>& out) {
  if (value->kind != LoweredValue::Kind::kTuple) {
    out.push_back(value);
    return;
  }
  for (const LoweredRef& field : value->fields) flatten(field, out);
}

bool is_pending(const LoweredValue& value) {
  return value.kind == LoweredValue::Kind::kPending ||
         std::ranges::any_of(value.fields, [](const LoweredRef& field) { return is_pending(*field); });
}

}  // namespace baton::vm
