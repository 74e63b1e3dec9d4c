#include "baton/runtime/values/value.h"

#include <algorithm>
#include <mutex>
#include <unordered_set>

namespace baton::program {
namespace {

std::mutex& cells() {
  static std::mutex mutex;  // one for all cells; held only briefly
  return mutex;
}

void delete_value(const ValueNode* value) {
  switch (value->kind()) {
    case ValueKind::kTensor:
      delete static_cast<const TensorValue*>(value);
      return;
    case ValueKind::kTuple:
      delete static_cast<const TupleValue*>(value);
      return;
    case ValueKind::kData:
      delete static_cast<const DataValue*>(value);
      return;
    case ValueKind::kCell:
      delete static_cast<const CellValue*>(value);
      return;
    case ValueKind::kFunction:
      delete static_cast<const FunctionValue*>(value);
      return;
    case ValueKind::kDeviceTensor:
      delete static_cast<const DeviceTensorValue*>(value);
      return;
  }
}

}  // namespace

void ValueNode::destroy(const ValueNode* value) { delete_in_turn(value, &delete_value); }

Value CellValue::value() const {
  const std::lock_guard lock(cells());
  return value_;
}

void CellValue::write(Value value) const {
  const std::lock_guard lock(cells());
  std::swap(value_, value);  // the old value is released after the lock
}

void CellScope::add(const Ref<const CellValue>& cell) {
  if (made_.size() >= sweep_at_) {
    std::erase_if(made_, [](const Ref<const CellValue>& each) { return each->use_count() == 1; });
    sweep_at_ = std::max<size_t>(1024, 2 * made_.size());
  }
  made_.push_back(cell);
}

CellScope::~CellScope() {
  if (made_.empty()) return;
  std::unordered_set<const ValueNode*> reached;
  std::vector<Value> open = std::move(roots_);
  while (!open.empty()) {
    const Value value = std::move(open.back());
    open.pop_back();
    if (!value || !reached.insert(value.get()).second) continue;
    for (Value& part : parts_of(value)) open.push_back(std::move(part));
  }
  for (const Ref<const CellValue>& cell : made_)
    if (!reached.contains(cell.get())) cell->write({});
}

Value tensor_value(NDArray array) { return make_ref<const TensorValue>(std::move(array)); }
Value tuple_value(std::vector<Value> fields) { return make_ref<const TupleValue>(std::move(fields)); }

std::string describe(const Value& value) {
  if (!value) return "no value";
  if (const auto* tensor = as_value<TensorValue>(value))
    return "a tensor " + baton::describe(tensor->array().shape(), tensor->array().dtype());
  if (const auto* tensor = as_value<DeviceTensorValue>(value))
    return "a tensor " + baton::describe(tensor->array().shape(), tensor->array().dtype()) + " on a device";
  if (const auto* tuple = as_value<TupleValue>(value))
    return "a tuple of " + std::to_string(tuple->fields().size());
  if (const auto* data = as_value<DataValue>(value))
    return data->constructor() ? "a value made by " + data->constructor()->name
                               : "a value of tag " + std::to_string(data->tag());
  if (const auto* function = as_value<FunctionValue>(value)) return "the function " + function->name();
  return "a reference";
}

std::vector<Value> parts_of(const Value& value) {
  if (const auto* tuple = as_value<TupleValue>(value)) return tuple->fields();
  if (const auto* data = as_value<DataValue>(value)) return data->fields();
  if (const auto* cell = as_value<CellValue>(value)) return {cell->value()};
  if (const auto* function = as_value<FunctionValue>(value)) return function->captured();
  return {};
}

}  // namespace baton::program
