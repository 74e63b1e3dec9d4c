#include "baton/frontend/onnx/ops/numbers.h"

#include <cmath>

#include "baton/frontend/onnx/ops/formulas.h"
#include "baton/support/base/float16.h"

namespace baton::onnx {

namespace {

template <class T>
std::vector<double> as_reals(const NDArray& array) {
  const auto values = array.as<T>();
  return {values.begin(), values.end()};
}

}  // namespace

std::vector<double> reals_of(const Conversion& c, size_t input) {
  if (const auto integers = c.numbers(input)) return {integers->begin(), integers->end()};
  const ConstantNode* known = c.constant(input);
  if (!known) throw c.not_supported("numbers (input " + std::to_string(input) + ") computed at run time");
  const NDArray& array = known->value();
  const DType type = array.dtype();
  if (type == DType::float_(32)) return as_reals<float>(array);
  if (type == DType::float_(64)) return as_reals<double>(array);
  if (type == DType::int_(64)) return as_reals<int64_t>(array);
  if (type == DType::int_(32)) return as_reals<int32_t>(array);
  if (type != DType::float_(16) && !type.is_bfloat())
    throw c.error("input " + std::to_string(input) + " is of type " + type.str() + ", and should be real");
  std::vector<double> values;
  for (const uint16_t bits : array.as<uint16_t>())
    values.push_back(type.is_bfloat() ? bfloat_to_float(bits) : half_to_float(bits));
  return values;
}

NDArray reals_array(const Shape& shape, const std::vector<double>& values, DType type) {
  if (type == DType::float_(64)) return NDArray::of<double>(shape, values, type);
  if (type == DType::float_(32))
    return NDArray::of<float>(shape, std::vector<float>(values.begin(), values.end()), type);
  std::vector<uint16_t> bits;
  for (const double value : values)
    bits.push_back(type.is_bfloat() ? bfloat_from_double(value) : half_from_double(value));
  return NDArray::of<uint16_t>(shape, bits, type);
}

/// Relay's `round` takes halves away from zero, but not their half.

Expr saturated(const Conversion& c, const Expr& value, DType type) {
  if (tensor_type(value).dtype() == type) return value;
  const bool is_signed = type.is_int();
  const double least = is_signed ? -std::ldexp(1.0, type.bits - 1) : 0,
               end = std::ldexp(1.0, type.bits - (is_signed ? 1 : 0));
  // The largest of 64 bits is no double: the one below it bounds.
  const double most = type.bits > 32 ? std::nextafter(end, 0.0) : end - 1;
  return c.cast(c.call("clip", {Formulas(c).round_even(value)}, {{"a_min", least}, {"a_max", most}}), type);
}

}  // namespace baton::onnx
