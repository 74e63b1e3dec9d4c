#pragma once
// Run-time values of programs: arrays, tuples, data type values, references, functions. Immutable except
// references; reference counted; long lists are freed without recursion. They know nothing of the program's
// representation: what runs it derives FunctionValue, and describes constructors by ConstructorInfo.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "baton/support/base/ndarray.h"
#include "baton/support/base/ref.h"

namespace baton::program {

enum class ValueKind : uint8_t { kTensor, kTuple, kData, kCell, kFunction, kDeviceTensor };

/// Not polymorphic: the runtime is compiled without RTTI, which users of polymorphic values could need.
class ValueNode {
 public:
  ValueNode(const ValueNode&) = delete;
  ValueNode& operator=(const ValueNode&) = delete;
  ValueKind kind() const { return kind_; }

  void retain() const { count_.fetch_add(1, std::memory_order_relaxed); }
  void release() const {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy(this);
  }
  uint32_t use_count() const { return count_.load(std::memory_order_relaxed); }

 protected:
  explicit ValueNode(ValueKind kind) : kind_(kind) {}
  ~ValueNode() = default;

 private:
  static void destroy(const ValueNode* value);

  mutable std::atomic<uint32_t> count_{0};
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
  /// `capacity`: the bytes of its memory, where it has more than its elements take; else 0.
  explicit TensorValue(NDArray array, bool lent = false, size_t capacity = 0)
      : ValueNode(kKind), array_(std::move(array)), capacity_(capacity), lent_(lent) {}
  const NDArray& array() const { return array_; }
  bool lent() const { return lent_; }
  size_t capacity() const { return capacity_; }

 private:
  NDArray array_;
  size_t capacity_;
  bool lent_;
};

/// A tensor in the memory of a device. Only machines see these: what they give to others is in the memory of
/// the host, but for what closures capture.
class DeviceTensorValue final : public ValueNode {
 public:
  static constexpr ValueKind kKind = ValueKind::kDeviceTensor;
  /// `array`: shape and type, without data; it keeps the memory. `device`: numbered by the program.
  DeviceTensorValue(NDArray array, uint32_t device, uint64_t memory)
      : ValueNode(kKind), array_(std::move(array)), memory_(memory), device_(device) {}
  const NDArray& array() const { return array_; }
  uint32_t device() const { return device_; }
  uint64_t memory() const { return memory_; }  ///< a handle of the device's plug-in

 private:
  NDArray array_;
  uint64_t memory_;
  uint32_t device_;
};

class TupleValue final : public ValueNode {
 public:
  static constexpr ValueKind kKind = ValueKind::kTuple;
  explicit TupleValue(std::vector<Value> fields) : ValueNode(kKind), fields_(std::move(fields)) {}
  const std::vector<Value>& fields() const { return fields_; }

 private:
  std::vector<Value> fields_;
};

/// What a value says of its constructor. Shared by the constructor's values.
struct ConstructorInfo {
  std::string name;       ///< "Cons"
  std::string type_name;  ///< "List"
  uint32_t arity = 0;
  std::shared_ptr<const void> definition =
      {};  ///< for whoever made this (interpreter/value_exprs.h), or null
};
using ConstructorRef = std::shared_ptr<const ConstructorInfo>;

/// A value of a data type.
class DataValue final : public ValueNode {
 public:
  static constexpr ValueKind kKind = ValueKind::kData;
  /// `tag`: the constructor's number, by which values are matched; the constructor itself may be null.
  DataValue(int32_t tag, std::vector<Value> fields, ConstructorRef constructor)
      : ValueNode(kKind), tag_(tag), fields_(std::move(fields)), constructor_(std::move(constructor)) {}
  int32_t tag() const { return tag_; }
  const std::vector<Value>& fields() const { return fields_; }
  const ConstructorRef& constructor() const { return constructor_; }

 private:
  int32_t tag_;
  std::vector<Value> fields_;
  ConstructorRef constructor_;
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

/// A callable value. Its virtual functions are inline, here and below, so that vtables come with the RTTI of
/// the library that derives from it.
class FunctionValue : public ValueNode {
 public:
  static constexpr ValueKind kKind = ValueKind::kFunction;
  virtual ~FunctionValue() = default;
  virtual std::string name() const = 0;  ///< for messages
  /// The values of its captured variables.
  virtual const std::vector<Value>& captured() const = 0;
  virtual const ForeignFunction* foreign() const { return nullptr; }
  /// What identifies the program that it is a part of; null: of none.
  virtual const void* program() const { return nullptr; }
  /// Whether it is a MachineFunction (runtime/vm/machine.h).
  virtual bool is_of_machine() const { return false; }

 protected:
  FunctionValue() : ValueNode(kKind) {}
};

/// A function implemented outside the program, e.g. in Python.
class ForeignFunction : public FunctionValue {
 public:
  virtual Value call(const std::vector<Value>& args) const = 0;
  const std::vector<Value>& captured() const final {
    static const std::vector<Value> none;
    return none;
  }
  const ForeignFunction* foreign() const final { return this; }
};

Value tensor_value(NDArray array);
Value tuple_value(std::vector<Value> fields);

/// "a tensor float32[2, 3]", "a tuple of 2", "a value made by Cons": for messages.
std::string describe(const Value& value);

/// References may form cycles through functions: those that were made in this scope, and that its roots do
/// not reach, are emptied at its end.
class CellScope {
 public:
  CellScope() = default;
  ~CellScope();
  CellScope(const CellScope&) = delete;
  CellScope& operator=(const CellScope&) = delete;
  void add(const Ref<const CellValue>& cell);
  void keep(Value root) { roots_.push_back(std::move(root)); }

 private:
  std::vector<Ref<const CellValue>> made_;
  std::vector<Value> roots_;
  size_t sweep_at_ = 1024;
};

/// The directly contained values: fields, a reference's content, a function's captures.
std::vector<Value> parts_of(const Value& value);

}  // namespace baton::program
