#pragma once
// Run-time values of the interpreter (interpreter/interpreted_program.h): arrays, tuples, data type values,
// references, functions. Immutable except references; reference counted; long lists are freed without
// recursion (support/ref.h).
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "baton/ir/adt.h"

namespace baton::program {

enum class ValueKind : uint8_t { kTensor, kTuple, kData, kCell, kFunction };

class ValueNode : public RefCounted {
 public:
  ValueKind kind() const { return kind_; }

 protected:
  explicit ValueNode(ValueKind kind) : kind_(kind) {}

 private:
  ValueKind kind_;
};

using Value = Ref<const ValueNode>;

/// `value` as a T, or null when it is null or of another kind: as_value<TensorValue>(v).
template <class T>
const T* as_value(const Value& value) {
  return value && value->kind() == T::kKind ? static_cast<const T*>(value.get()) : nullptr;
}

class TensorValue final : public ValueNode {
 public:
  static constexpr ValueKind kKind = ValueKind::kTensor;
  /// `lent`: the memory belongs to a constant or an argument, so it is copied before writing.
  explicit TensorValue(NDArray array, bool lent = false)
      : ValueNode(kKind), array_(std::move(array)), lent_(lent) {}
  const NDArray& array() const { return array_; }
  bool lent() const { return lent_; }

 private:
  NDArray array_;
  bool lent_;
};

class TupleValue final : public ValueNode {
 public:
  static constexpr ValueKind kKind = ValueKind::kTuple;
  explicit TupleValue(std::vector<Value> fields) : ValueNode(kKind), fields_(std::move(fields)) {}
  const std::vector<Value>& fields() const { return fields_; }

 private:
  std::vector<Value> fields_;
};

/// A value of a data type.
class DataValue final : public ValueNode {
 public:
  static constexpr ValueKind kKind = ValueKind::kData;
  /// `tag`: constructor_tag(); the constructor itself may be null.
  DataValue(int32_t tag, std::vector<Value> fields, Constructor constructor)
      : ValueNode(kKind), tag_(tag), fields_(std::move(fields)), constructor_(std::move(constructor)) {}
  int32_t tag() const { return tag_; }
  const std::vector<Value>& fields() const { return fields_; }
  const Constructor& constructor() const { return constructor_; }

 private:
  int32_t tag_;
  std::vector<Value> fields_;
  Constructor constructor_;
};

/// A mutable reference; thread safe.
class CellValue final : public ValueNode {
 public:
  static constexpr ValueKind kKind = ValueKind::kCell;
  explicit CellValue(Value value) : ValueNode(kKind), value_(std::move(value)) {}
  Value value() const;
  void write(Value value) const;

 private:
  mutable Value value_;
};

class ForeignFunction;

/// A callable value.
class FunctionValue : public ValueNode {
 public:
  static constexpr ValueKind kKind = ValueKind::kFunction;
  virtual std::string name() const = 0;  ///< for messages
  /// The values of its captured variables.
  virtual const std::vector<Value>& captured() const = 0;
  virtual const ForeignFunction* foreign() const { return nullptr; }

 protected:
  FunctionValue() : ValueNode(kKind) {}
};

/// A function implemented outside the program, e.g. in Python.
class ForeignFunction : public FunctionValue {
 public:
  virtual Value call(const std::vector<Value>& args) const = 0;
  const std::vector<Value>& captured() const final;
  const ForeignFunction* foreign() const final { return this; }
};

Value tensor_value(NDArray array);
Value tuple_value(std::vector<Value> fields);

/// "a tensor float32[2, 3]", "a tuple of 2", "Cons": for messages.
std::string describe(const Value& value);

/// The directly contained values: fields, a reference's content, a function's captures.
std::vector<Value> parts_of(const Value& value);

/// The value as an expression: constants, tuples, constructor calls, new references. Throws Error for a
/// function, and for a data type value whose constructor is unknown.
Expr expr_of(const Value& value);

}  // namespace baton::program
