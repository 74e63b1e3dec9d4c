#include "baton/ops/compute.h"

#include <deque>
#include <mutex>

#include "baton/ir/extents/kernel_extents.h"

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

Halide::Param<int> extent_param(int i) {
  // Of the process: a parameter is its name, and all kernels have the same.
  static std::mutex mutex;
  static std::deque<Halide::Param<int>> params;
  const std::lock_guard lock(mutex);
  while (static_cast<int>(params.size()) <= i) {
    params.emplace_back("extent" + std::to_string(params.size()));
    params.back().set_min_value(0);
  }
  return params[static_cast<size_t>(i)];
}

Halide::Expr as_expr(Dim dim) {
  if (!dim.is_symbolic()) return as_int(number_of(dim, "a number for an extent"));
  if (as_extent_var(dim)) {
    const int i = extent_number(dim);
    BATON_CHECK(i >= 0, "a kernel with an extent " + extent_text(dim) + " of a program");
    return extent_param(i);
  }
  const ExtentParts parts = extent_parts(dim);
  const Halide::Expr a = as_expr(parts.a), b = as_expr(parts.b);
  switch (parts.op) {
    case ExtentOp::kAdd:
      return a + b;
    case ExtentOp::kSub:
      return a - b;
    case ExtentOp::kMul:
      return a * b;
    case ExtentOp::kFloorDiv:
      break;
  }
  return a / b;  // Halide rounds down, too
}

const std::vector<int64_t>& Tensor::shape() const {
  for (int axis = 0; axis < rank(); ++axis) extent(axis);
  return shape_;
}

int64_t Tensor::extent(int axis) const {
  const size_t at = existing_axis(axis, dims_.size());
  return number_of(dims_[at], "a number for axis " + std::to_string(at));
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
