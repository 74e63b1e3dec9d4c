#include "baton/driver/vm/lowered_value.h"

#include <algorithm>

namespace baton::vm {

LoweredRef in_register(Register where, Type type) {
  return std::make_shared<LoweredValue>(
      LoweredValue{.kind = LoweredValue::Kind::kRegister, .where = where, .type = std::move(type)});
}

LoweredRef tuple_of(std::vector<LoweredRef> fields, Type type) {
  return std::make_shared<LoweredValue>(
      LoweredValue{.kind = LoweredValue::Kind::kTuple, .type = std::move(type), .fields = std::move(fields)});
}

LoweredRef pending_of(const Type& type) {
  const auto* tuple = as_type<TupleTypeNode>(type);
  if (!tuple)
    return std::make_shared<LoweredValue>(LoweredValue{.kind = LoweredValue::Kind::kPending, .type = type});
  std::vector<LoweredRef> fields;
  for (const Type& field : tuple->fields()) fields.push_back(pending_of(field));
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
