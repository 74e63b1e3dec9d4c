#include "baton/support/base/ndarray.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "baton/support/base/memory.h"

namespace baton {

std::optional<int64_t> element_count(std::span<const int64_t> shape) {
  int64_t count = 1;
  bool overflow = false;
  bool has_zero = false;
  for (const int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    if (extent == 0) {
      has_zero = true;
    } else {
      overflow |= __builtin_mul_overflow(count, extent, &count);
    }
  }
  // [0, 2^62, 2^62] has no elements, but its strides overflow: reject it like any other overflow.
  if (overflow) return std::nullopt;
  return has_zero ? 0 : count;
}

std::optional<int64_t> byte_count(std::span<const int64_t> shape, DType dtype) {
  const std::optional<int64_t> count = element_count(shape);
  int64_t bytes = 0;
  if (!count || __builtin_mul_overflow(*count, static_cast<int64_t>(dtype.bytes()), &bytes))
    return std::nullopt;
  return bytes;
}

std::string describe(std::span<const int64_t> shape, DType dtype) {
  std::string text = dtype.str() + "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i) text += ", ";
    text += shape[i] < 0 ? "?" : std::to_string(shape[i]);
  }
  return text + "]";
}

NDArray NDArray::empty(Shape shape, DType dtype) {
  const std::optional<int64_t> bytes = byte_count(shape, dtype);
  void* data = bytes ? allocate_aligned(static_cast<size_t>(*bytes)) : nullptr;
  if (!data) return {};
  NDArray array = view(data, std::move(shape), dtype, std::free, data);
  if (!array.defined()) std::free(data);
  return array;
}

NDArray NDArray::zeros(Shape shape, DType dtype) {
  NDArray array = empty(std::move(shape), dtype);
  if (array.defined()) std::memset(array.data(), 0, array.bytes());
  return array;
}

NDArray NDArray::from_bytes(Shape shape, DType dtype, const void* data) {
  NDArray array = empty(std::move(shape), dtype);
  if (array.defined() && array.bytes()) std::memcpy(array.data(), data, array.bytes());
  return array;
}

NDArray NDArray::view(void* data, Shape shape, DType dtype, Deleter release, void* context) {
  const std::optional<int64_t> count = element_count(shape);
  if (!count || !byte_count(shape, dtype)) return {};
  NDArray array;
  if (release) array.storage_ = std::shared_ptr<void>(context, release);
  array.defined_ = true;
  array.data_ = data;
  array.size_ = *count;
  array.shape_ = std::move(shape);
  array.dtype_ = dtype;
  return array;
}

NDArray NDArray::reshaped(Shape shape) const {
  const std::optional<int64_t> count = element_count(shape);
  if (!defined() || !count || *count != size_) return {};
  NDArray array = *this;
  array.shape_ = std::move(shape);
  return array;
}

NDArray NDArray::in_same_memory(Shape shape) const {
  NDArray array = *this;
  array.size_ = *element_count(shape);
  array.shape_ = std::move(shape);
  return array;
}

NDArray NDArray::copy() const { return defined() ? from_bytes(shape_, dtype_, data_) : NDArray(); }

bool NDArray::equal_bytes(const NDArray& other) const {
  if (defined() != other.defined() || shape_ != other.shape_ || dtype_ != other.dtype_) return false;
  return bytes() == 0 || std::memcmp(data_, other.data_, bytes()) == 0;
}

}  // namespace baton
