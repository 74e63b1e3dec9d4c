// Dense tensors in host memory: constants, inputs and outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "baton/support/base/dtype.h"

namespace baton {

using Shape = std::vector<int64_t>;

/// The number of elements of a shape (1 for a scalar); nullopt when an extent is negative or the product
/// exceeds int64.
std::optional<int64_t> element_count(std::span<const int64_t> shape);

/// Bytes of a dense tensor; nullopt when element_count() fails or the product exceeds int64.
std::optional<int64_t> byte_count(std::span<const int64_t> shape, DType dtype);

/// "float32[1, 3, 224, 224]", as in profile reports; an extent below 0 is one that is not known: "?".
std::string describe(std::span<const int64_t> shape, DType dtype);

/// A row-major tensor in host memory. A handle: copies share the data, as in Python. Data is 64-byte aligned,
/// and page aligned from 4096 bytes on, unless it is a view of foreign memory.
class NDArray {
 public:
  using Deleter = void (*)(void* context);

  static constexpr size_t kAlignment = 64;
  static constexpr size_t kPageAlignment = 4096;

  /// An undefined array.
  NDArray() = default;

  /// Uninitialised data. Undefined when the shape overflows or memory is exhausted.
  static NDArray empty(Shape shape, DType dtype);
  static NDArray zeros(Shape shape, DType dtype);

  /// A copy of `byte_count(shape, dtype)` bytes.
  static NDArray from_bytes(Shape shape, DType dtype, const void* data);

  /// A copy of `values`, e.g. `NDArray::of<float>({2}, {1.f, 2.f}, DType::float_(32))`. Undefined when sizes
  /// differ.
  template <typename T>
  static NDArray of(Shape shape, std::span<const T> values, DType dtype);

  /// A view without copying; `release(context)` is called with the last handle (null: never).
  static NDArray view(void* data, Shape shape, DType dtype, Deleter release, void* context);

  bool defined() const { return defined_; }
  explicit operator bool() const { return defined(); }

  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  int ndim() const { return static_cast<int>(shape_.size()); }
  int64_t size() const { return size_; }  ///< elements
  size_t bytes() const { return static_cast<size_t>(size_) * dtype_.bytes(); }

  void* data() { return data_; }
  const void* data() const { return data_; }

  /// All elements; sizeof(T) must equal the element's size.
  template <typename T>
  std::span<T> as() {
    return {static_cast<T*>(data_), static_cast<size_t>(size_)};
  }
  template <typename T>
  std::span<const T> as() const {
    return {static_cast<const T*>(data_), static_cast<size_t>(size_)};
  }

  /// The same data with another shape of equal size; undefined when the counts differ.
  NDArray reshaped(Shape shape) const;

  /// The same memory as a tensor of another shape, which it has room for.
  NDArray in_same_memory(Shape shape) const;

  /// A deep copy.
  NDArray copy() const;

  /// Whether both handles have the same memory, shape and type.
  bool same_as(const NDArray& other) const {
    return defined_ == other.defined_ && data_ == other.data_ && shape_ == other.shape_ &&
           dtype_ == other.dtype_;
  }

  /// Whether no other handle has its memory; false for a view without an owner.
  bool is_only_handle() const { return storage_.use_count() == 1; }

  /// Whether shape, type and all bytes are equal.
  bool equal_bytes(const NDArray& other) const;

 private:
  std::shared_ptr<void> storage_;  // empty for a non-owning view
  void* data_ = nullptr;
  bool defined_ = false;
  int64_t size_ = 0;
  Shape shape_;
  DType dtype_;
};

template <typename T>
NDArray NDArray::of(Shape shape, std::span<const T> values, DType dtype) {
  const std::optional<int64_t> bytes = byte_count(shape, dtype);
  if (!bytes || static_cast<size_t>(*bytes) != values.size_bytes()) return {};
  return from_bytes(std::move(shape), dtype, values.data());
}

}  // namespace baton
