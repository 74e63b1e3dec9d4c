#include "ops/numbers.h"

#include "baton/support/base/float16.h"

namespace baton::test {

namespace {

/// visit(T()) with the C++ type of an element; float16 comes as its bits.
template <class F>
void with_element(DType t, F&& visit) {
  if (t.is_float() && t.bits == 16)
    visit(uint16_t());
  else if (t.is_float() && t.bits == 32)
    visit(float());
  else if (t.is_float())
    visit(double());
  else if (t.bytes() == 8)
    t.is_uint() ? visit(uint64_t()) : visit(int64_t());
  else if (t.bytes() == 4)
    t.is_uint() ? visit(uint32_t()) : visit(int32_t());
  else if (t.bytes() == 2)
    t.is_uint() ? visit(uint16_t()) : visit(int16_t());
  else
    t.is_uint() || t.is_bool() ? visit(uint8_t()) : visit(int8_t());
}

bool is_half(DType t) { return t.is_float() && t.bits == 16; }

}  // namespace

std::vector<double> numbers(const NDArray& array) {
  std::vector<double> all;
  with_element(array.dtype(), [&](auto type) {
    for (const auto value : array.as<decltype(type)>())
      all.push_back(is_half(array.dtype()) ? half_to_float(static_cast<uint16_t>(value))
                                           : static_cast<double>(value));
  });
  return all;
}

NDArray from_numbers(const std::vector<double>& values, const Shape& shape, DType type) {
  NDArray array = NDArray::empty(shape, type);
  with_element(type, [&](auto element) {
    using T = decltype(element);
    for (size_t i = 0; i < values.size(); ++i)
      array.as<T>()[i] = is_half(type)    ? static_cast<T>(half_from_float(static_cast<float>(values[i])))
                         : type.is_bool() ? static_cast<T>(values[i] != 0)
                                          : static_cast<T>(values[i]);
  });
  return array;
}

}  // namespace baton::test
