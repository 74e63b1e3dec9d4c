#pragma once
// Relay's types. Immutable and shared; compare with same_type, never by pointer.
#include <cstdint>
#include <string>
#include <vector>

#include "baton/support/base/dtype.h"
#include "baton/support/ref.h"

namespace baton {

enum class TypeKind : uint8_t { kTensor, kTuple, kFunc, kIncomplete };

class TypeNode : public RefCounted {
 public:
  TypeKind kind() const { return kind_; }

 protected:
  explicit TypeNode(TypeKind kind) : kind_(kind) {}

 private:
  TypeKind kind_;
};

using Type = Ref<const TypeNode>;

/// One extent of a tensor: a number, or `?` (Any), unknown until run time.
class Dim {
 public:
  Dim(int64_t value) : value_(value) {}
  static Dim any() { return Dim(kAny); }
  bool is_any() const { return value_ == kAny; }
  int64_t value() const { return value_; }  ///< only when not is_any()
  friend bool operator==(const Dim&, const Dim&) = default;

 private:
  static constexpr int64_t kAny = INT64_MIN;
  int64_t value_;
};

class TensorTypeNode final : public TypeNode {
 public:
  static constexpr TypeKind kKind = TypeKind::kTensor;
  TensorTypeNode(std::vector<Dim> shape, DType dtype)
      : TypeNode(kKind), shape_(std::move(shape)), dtype_(dtype) {}
  const std::vector<Dim>& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  int rank() const { return static_cast<int>(shape_.size()); }
  bool is_static() const;
  /// The extents as numbers. Only when is_static().
  std::vector<int64_t> extents() const;

 private:
  std::vector<Dim> shape_;
  DType dtype_;
};

class TupleTypeNode final : public TypeNode {
 public:
  static constexpr TypeKind kKind = TypeKind::kTuple;
  explicit TupleTypeNode(std::vector<Type> fields) : TypeNode(kKind), fields_(std::move(fields)) {}
  const std::vector<Type>& fields() const { return fields_; }

 private:
  std::vector<Type> fields_;
};

class FuncTypeNode final : public TypeNode {
 public:
  static constexpr TypeKind kKind = TypeKind::kFunc;
  FuncTypeNode(std::vector<Type> params, Type result)
      : TypeNode(kKind), params_(std::move(params)), result_(std::move(result)) {}
  const std::vector<Type>& params() const { return params_; }
  const Type& result() const { return result_; }

 private:
  std::vector<Type> params_;
  Type result_;
};

/// A hole that inference fills. Each node is a variable of its own.
class IncompleteTypeNode final : public TypeNode {
 public:
  static constexpr TypeKind kKind = TypeKind::kIncomplete;
  IncompleteTypeNode() : TypeNode(kKind) {}
};

/// `type` as a T, or null when it is null or of another kind: as_type<TensorTypeNode>(t).
template <class T>
const T* as_type(const Type& type) {
  return type && type->kind() == T::kKind ? static_cast<const T*>(type.get()) : nullptr;
}

Type tensor_type(std::vector<Dim> shape, DType dtype);
Type tensor_type(const std::vector<int64_t>& extents, DType dtype);
Type scalar_type(DType dtype);
Type tuple_type(std::vector<Type> fields);
Type func_type(std::vector<Type> params, Type result);
Type incomplete_type();

/// Structural equality; `?` equals only `?`, a hole only itself. Two nulls are equal.
bool same_type(const Type& a, const Type& b);
/// Without holes anywhere.
bool is_complete(const Type& type);
/// Relay text: `Tensor[(1, 64), float32]`, `float32`, `(T1, T2)`, `fn (T1) -> R`, `Tensor[(?), int64]`; a hole is `_`.
std::string type_text(const Type& type);
uint64_t type_hash(const Type& type);

}  // namespace baton
