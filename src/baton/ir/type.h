#pragma once
// Relay's types. Immutable and shared; compare with same_type, never by pointer.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "baton/support/base/dtype.h"
#include "baton/support/function_ref.h"
#include "baton/support/ref.h"

namespace baton {

enum class TypeKind : uint8_t {
  kTensor,
  kTuple,
  kFunc,
  kIncomplete,
  kTypeVar,
  kGlobalTypeVar,
  kTypeCall,
  kRef
};

class TypeNode : public RefCounted {
 public:
  TypeKind kind() const { return kind_; }

 protected:
  explicit TypeNode(TypeKind kind) : kind_(kind) {}

 private:
  TypeKind kind_;
};

using Type = Ref<const TypeNode>;

/// An extent of a tensor: a number, or "any", known only at run time: `?`, of which nothing is known, or a
/// symbolic extent such as `n + 1` (ir/extent.h), which equals itself. 64 bits; == is identity of extents.
class Dim {
 public:
  Dim(int64_t value) : value_(value > kLastSymbol ? value : kAny) {}  ///< `?` near the least int64
  static Dim any() { return Dim(kAny); }
  static Dim symbol(uint32_t id) {
    Dim dim(kAny);
    dim.value_ += 1 + static_cast<int64_t>(id);
    return dim;
  }
  bool is_any() const { return value_ <= kLastSymbol; }  ///< `?` or symbolic
  bool is_symbolic() const { return is_any() && value_ != kAny; }
  int64_t value() const { return value_; }                                         ///< only when not is_any()
  uint32_t symbol_id() const { return static_cast<uint32_t>(value_ - kAny - 1); }  ///< when is_symbolic()
  friend bool operator==(const Dim&, const Dim&) = default;

 private:
  static constexpr int64_t kAny = INT64_MIN, kLastSymbol = kAny + 1 + UINT32_MAX;
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
  bool is_known() const;  ///< extents are numbers or symbolic, none is `?`
  /// The extents as numbers. Throws NeedsNumbers (ir/extent.h) unless is_static().
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

/// The kind of a type variable; numbers as in TVM's TypeKind.
enum class Kind : uint8_t {
  kType = 0,
  kShapeVar = 1,
  kBaseType = 2,
  kConstraint = 4,
  kAdtHandle = 5,
  kTypeData = 6
};

/// A type parameter. Identity is the object; the name is for printing.
class TypeVarNode final : public TypeNode {
 public:
  static constexpr TypeKind kKind = TypeKind::kTypeVar;
  explicit TypeVarNode(std::string name, Kind kind = Kind::kType)
      : TypeNode(kKind), name_(std::move(name)), var_kind_(kind) {}
  const std::string& name() const { return name_; }
  Kind var_kind() const { return var_kind_; }

 private:
  std::string name_;
  Kind var_kind_;
};
using TypeVar = Ref<const TypeVarNode>;

/// The name of an algebraic data type (ir/adt.h). Equal by name.
class GlobalTypeVarNode final : public TypeNode {
 public:
  static constexpr TypeKind kKind = TypeKind::kGlobalTypeVar;
  explicit GlobalTypeVarNode(std::string name, Kind kind = Kind::kAdtHandle)
      : TypeNode(kKind), name_(std::move(name)), var_kind_(kind) {}
  const std::string& name() const { return name_; }
  Kind var_kind() const { return var_kind_; }

 private:
  std::string name_;
  Kind var_kind_;
};
using GlobalTypeVar = Ref<const GlobalTypeVarNode>;

/// A data type with its type arguments: `List[int32]`; without arguments it is written `Color[]`.
class TypeCallNode final : public TypeNode {
 public:
  static constexpr TypeKind kKind = TypeKind::kTypeCall;
  TypeCallNode(Type callee, std::vector<Type> args)
      : TypeNode(kKind), callee_(std::move(callee)), args_(std::move(args)) {}
  const Type& callee() const { return callee_; }  ///< a GlobalTypeVar in well-formed programs
  const std::vector<Type>& args() const { return args_; }

 private:
  Type callee_;
  std::vector<Type> args_;
};

/// The type of a mutable reference: `ref(T)`.
class RefTypeNode final : public TypeNode {
 public:
  static constexpr TypeKind kKind = TypeKind::kRef;
  explicit RefTypeNode(Type value) : TypeNode(kKind), value_(std::move(value)) {}
  const Type& value() const { return value_; }

 private:
  Type value_;
};

class FuncTypeNode final : public TypeNode {
 public:
  static constexpr TypeKind kKind = TypeKind::kFunc;
  FuncTypeNode(std::vector<Type> params, Type result, std::vector<TypeVar> type_params)
      : TypeNode(kKind),
        params_(std::move(params)),
        result_(std::move(result)),
        type_params_(std::move(type_params)) {}
  const std::vector<Type>& params() const { return params_; }
  const Type& result() const { return result_; }
  const std::vector<TypeVar>& type_params() const { return type_params_; }  ///< of a polymorphic function

 private:
  std::vector<Type> params_;
  Type result_;
  std::vector<TypeVar> type_params_;
};

/// A type hole (inference variable). Compared by identity.
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
Type func_type(std::vector<Type> params, Type result, std::vector<TypeVar> type_params = {});
Type incomplete_type();
TypeVar type_var(std::string name, Kind kind = Kind::kType);
GlobalTypeVar global_type_var(std::string name, Kind kind = Kind::kAdtHandle);
Type type_call(Type callee, std::vector<Type> args);
Type ref_type(Type value);

/// Corresponding type variables, and variables of symbolic extents, of two programs being compared.
struct TypePairs {
  std::vector<std::pair<const TypeVarNode*, const TypeVarNode*>> vars;
  std::vector<std::pair<Dim, Dim>> extents;
  bool pair_extents = false;  ///< whether variables of extents without a partner may become partners
  bool empty() const { return vars.empty() && extents.empty() && !pair_extents; }
};

/// Structural equality; `?` equals only `?`, a hole only itself, a variable itself or its partner in `pairs`;
/// the parameters of function types are paired by position. Two nulls are equal.
bool same_type(const Type& a, const Type& b);
bool same_type(const Type& a, const Type& b, TypePairs& pairs);
/// Whether `type` contains no holes.
bool is_complete(const Type& type);
/// Relay text: `Tensor[(1, 64), float32]`, `float32`, `(T1, T2)`, `fn (T1) -> R`, `Tensor[(?), int64]`; a
/// hole is `_`.
std::string type_text(const Type& type);

/// Rewrites `type` top-down: when `change` returns non-null for a type, that replaces it; otherwise its
/// components are rewritten. The same object when nothing changed.
Type rewrite_type(const Type& type, FunctionRef<Type(const Type&)> change);
/// `type` with type variables replaced by types.
Type substitute_types(const Type& type, const std::vector<TypeVar>& vars, const std::vector<Type>& values);
/// Calls `visit` for `type` and every nested type, in pre-order.
void visit_types(const Type& type, FunctionRef<void(const Type&)> visit);
/// Whether all tensors in it have constant extents.
bool is_static(const Type& type);
/// Whether it is a tensor, or a tuple of these.
bool is_tensors(const Type& type);
uint64_t type_hash(const Type& type);

}  // namespace baton
