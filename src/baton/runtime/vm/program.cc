#include "baton/runtime/vm/program.h"

#include <iterator>

namespace baton::vm {
namespace {

constexpr DType kIntegers[] = {DType::bool_(),  DType::int_(8),  DType::int_(16),  DType::int_(32),
                               DType::int_(64), DType::uint_(8), DType::uint_(16), DType::uint_(32)};

}  // namespace

bool is_integer_kind(DType dtype, IntegerKind* kind) {
  for (size_t i = 0; i < std::size(kIntegers); ++i) {
    if (kIntegers[i] != dtype) continue;
    if (kind) *kind = static_cast<IntegerKind>(i);
    return true;
  }
  return false;
}

DType dtype_of(IntegerKind kind) { return kIntegers[static_cast<size_t>(kind)]; }

int64_t wrapped(int64_t value, IntegerKind kind) {
  switch (kind) {
    case IntegerKind::kBool:
      return value != 0;
    case IntegerKind::kInt8:
      return static_cast<int8_t>(value);
    case IntegerKind::kInt16:
      return static_cast<int16_t>(value);
    case IntegerKind::kInt32:
      return static_cast<int32_t>(value);
    case IntegerKind::kInt64:
      return value;
    case IntegerKind::kUInt8:
      return static_cast<uint8_t>(value);
    case IntegerKind::kUInt16:
      return static_cast<uint16_t>(value);
    case IntegerKind::kUInt32:
      return static_cast<uint32_t>(value);
  }
  return value;
}

std::string above_bound(const ParameterType& type, const Shape& shape) {
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (type.most[axis] < 0 || shape[axis] <= type.most[axis]) continue;
    return "axis " + std::to_string(axis) + ", " + type.names[axis] + " = " + std::to_string(shape[axis]) +
           ", is above " + std::to_string(type.most[axis]) + ", the most that the program was built for";
  }
  return "";
}

int Program::find(const std::string& name) const {
  for (size_t i = 0; i < functions.size(); ++i)
    if (functions[i].is_global && functions[i].name == name) return static_cast<int>(i);
  return -1;
}

}  // namespace baton::vm
