#include "baton/ops/compute.h"

namespace baton {

Halide::Type halide_type(DType dtype) {
  const int bits = dtype.bits;
  const bool whole = bits == 8 || bits == 16 || bits == 32 || bits == 64;
  if (dtype.is_float() || dtype.is_bfloat() ? !whole || bits == 8 || (dtype.is_bfloat() && bits != 16)
                                            : !whole && !dtype.is_bool())
    throw NotSupported("element type \"" + dtype.str() +
                       "\" has no kernel type; kernels compute bool, int and uint of 8 to 64 bits, "
                       "bfloat16 and float of 16 to 64 bits");
  switch (dtype.code) {
    case DType::Code::kInt:
      return Halide::Int(dtype.bits, dtype.lanes);
    case DType::Code::kUInt:
      return Halide::UInt(dtype.bits, dtype.lanes);
    case DType::Code::kFloat:
      return Halide::Float(dtype.bits, dtype.lanes);
    case DType::Code::kBFloat:
      return Halide::BFloat(dtype.bits, dtype.lanes);
    case DType::Code::kHandle:
      break;
  }
  throw NotSupported("element type \"" + dtype.str() + "\" has no kernel type");
}

size_t existing_axis(int axis, size_t rank) {
  const int64_t at = axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
  if (at < 0 || at >= static_cast<int64_t>(rank))
    throw MissingAxis("there is no axis " + std::to_string(axis) + " of " + std::to_string(rank));
  return static_cast<size_t>(at);
}

Axes::Axes(int rank, const std::string& prefix) {
  for (int axis = 0; axis < rank; ++axis) vars_.emplace_back(prefix + std::to_string(axis));
}

Compute::Compute(std::string prefix, std::vector<Tensor> inputs, std::vector<Type> input_types,
                 Type result_type)
    : prefix_(std::move(prefix)),
      inputs_(std::move(inputs)),
      input_types_(std::move(input_types)),
      result_type_(std::move(result_type)) {}

int Compute::num_outputs() const {
  const auto* tuple = as_type<TupleTypeNode>(result_type_);
  return tuple ? static_cast<int>(tuple->fields().size()) : 1;
}

const TensorTypeNode& Compute::out(int index) const {
  const auto* tuple = as_type<TupleTypeNode>(result_type_);
  const auto* tensor = as_type<TensorTypeNode>(tuple ? tuple->fields().at(index) : result_type_);
  BATON_CHECK(tensor, "output " + std::to_string(index) + " of " + prefix_ + " is no tensor");
  return *tensor;
}

Halide::Func Compute::stage(const std::string& name) {
  stages_.push_back({name, Halide::Func(prefix_ + "__" + name)});
  return stages_.back().func;
}

}  // namespace baton
