#include "baton/ir/rules/shape_rule.h"

#include "baton/ir/op.h"
#include "baton/support/diagnostic.h"

namespace baton {

Type static_result_type(const CallNode& call, const std::vector<NDArray>& inputs) {
  const Type& type = call.checked_type();
  const auto* tuple = as_type<TupleTypeNode>(type);
  const std::vector<Type> fields = tuple ? tuple->fields() : std::vector<Type>{type};
  bool all = true;
  for (const Type& field : fields) {
    const auto* tensor = as_type<TensorTypeNode>(field);
    if (!tensor)
      throw NotSupported("a call whose result is no tensor cannot be evaluated: " + type_text(type));
    all = all && tensor->is_static();
  }
  if (all) return type;
  const auto* rule = call.op() ? call.op()->rules.get<ShapeRule>() : nullptr;
  if (!rule) throw NotSupported("the extents of " + type_text(type) + " are not known");
  const std::vector<std::vector<int64_t>> shapes = rule->shapes(call.attrs(), inputs);
  BATON_CHECK(shapes.size() == fields.size(),
              "a shape rule of " + call.op()->name + " gave another number of shapes");
  std::vector<Type> known;
  for (size_t k = 0; k < fields.size(); ++k) {
    const auto* tensor = as_type<TensorTypeNode>(fields[k]);
    for (const int64_t extent : shapes[k])
      if (extent < 0 || extent > INT32_MAX)
        throw NotSupported(call.op()->name + " would have an axis of extent " + std::to_string(extent));
    if (shapes[k].size() != tensor->shape().size())
      throw NotSupported(call.op()->name + " would have another rank than " + type_text(fields[k]));
    known.push_back(tensor_type(shapes[k], tensor->dtype()));
  }
  return tuple ? tuple_type(std::move(known)) : known[0];
}

std::vector<int64_t> integers_of(const NDArray& array) {
  std::vector<int64_t> all;
  const auto read = [&](auto type) {
    for (const auto value : array.as<decltype(type)>()) all.push_back(static_cast<int64_t>(value));
  };
  const DType t = array.dtype();
  if (t.is_int() && t.bits == 64)
    read(int64_t());
  else if (t.is_int() && t.bits == 32)
    read(int32_t());
  else if (t.is_int() && t.bits == 16)
    read(int16_t());
  else if (t.is_int())
    read(int8_t());
  else if (t.is_uint() && t.bits == 64)
    read(uint64_t());
  else if (t.is_uint() && t.bits == 32)
    read(uint32_t());
  else if (t.is_uint() && t.bits == 16)
    read(uint16_t());
  else if (t.is_uint())
    read(uint8_t());
  else
    throw NotSupported("integers are needed, got " + t.str());
  return all;
}

}  // namespace baton
