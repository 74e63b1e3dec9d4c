#include "baton/interpreter/values.h"

#include <algorithm>

#include "baton/support/error.h"
#include "baton/support/pointer_map.h"

namespace baton::program {

namespace {

std::mutex& cells() {
  static std::mutex mutex;  // one for all cells; held only briefly
  return mutex;
}

const std::vector<Value> kNone;

Expr made_of(const Value& value, std::vector<Expr> parts) {
  switch (value->kind()) {
    case ValueKind::kTensor:
      return constant(as_value<TensorValue>(value)->array());
    case ValueKind::kTuple:
      return tuple(std::move(parts));
    case ValueKind::kCell:
      return ref_create(std::move(parts.at(0)));
    case ValueKind::kFunction:
      break;
    case ValueKind::kData:
      if (const Constructor& made = as_value<DataValue>(value)->constructor())
        return call_expr(Expr(made), std::move(parts));
      throw Error("a value of a data type without its constructor cannot be given to a program");
  }
  throw Error(describe(value) + " is no value that an expression can be made of");
}

}  // namespace

Value CellValue::value() const {
  const std::lock_guard lock(cells());
  return value_;
}

void CellValue::write(Value value) const {
  const std::lock_guard lock(cells());
  std::swap(value_, value);  // the old value is released after the lock
}

const std::vector<Value>& ForeignFunction::captured() const { return kNone; }

Value tensor_value(NDArray array) { return make_ref<const TensorValue>(std::move(array)); }
Value tuple_value(std::vector<Value> fields) { return make_ref<const TupleValue>(std::move(fields)); }

std::string describe(const Value& value) {
  if (!value) return "no value";
  switch (value->kind()) {
    case ValueKind::kTensor: {
      const NDArray& array = as_value<TensorValue>(value)->array();
      return "a tensor " + baton::describe(array.shape(), array.dtype());
    }
    case ValueKind::kTuple:
      return "a tuple of " + std::to_string(as_value<TupleValue>(value)->fields().size());
    case ValueKind::kData: {
      const auto* data = as_value<DataValue>(value);
      return data->constructor() ? "a value made by " + data->constructor()->name()
                                 : "a value of tag " + std::to_string(data->tag());
    }
    case ValueKind::kCell:
      return "a reference";
    case ValueKind::kFunction:
      return "the function " + as_value<FunctionValue>(value)->name();
  }
  internal_error(__FILE__, __LINE__, "a value of no kind", "");
}

std::vector<Value> parts_of(const Value& value) {
  if (const auto* tuple = as_value<TupleValue>(value)) return tuple->fields();
  if (const auto* data = as_value<DataValue>(value)) return data->fields();
  if (const auto* cell = as_value<CellValue>(value)) return {cell->value()};
  if (const auto* function = as_value<FunctionValue>(value)) return function->captured();
  return {};
}

Expr expr_of(const Value& root) {
  struct Open {
    Value value;
    std::vector<Value> parts;
    std::vector<Expr> made;
  };
  PointerMap<Expr> done;
  std::vector<Value> kept;  // cells may be written during this loop
  std::vector<Open> stack;
  const auto is_open = [&](const Value& value) {
    return std::any_of(stack.begin(), stack.end(), [&](const Open& open) { return open.value == value; });
  };
  stack.push_back({root, parts_of(root), {}});
  while (true) {
    Open& open = stack.back();
    if (open.made.size() < open.parts.size()) {
      const Value part = open.parts[open.made.size()];
      if (const Expr* known = done.find(part.get())) {
        open.made.push_back(*known);
        continue;
      }
      if (part->kind() == ValueKind::kCell && is_open(part))
        throw Error("a reference that holds itself is no expression");
      stack.push_back({part, parts_of(part), {}});
      continue;
    }
    Expr made = made_of(open.value, std::move(open.made));
    if (stack.size() == 1) return made;
    kept.push_back(open.value);
    done.insert(open.value.get(), std::move(made));
    stack.pop_back();
  }
}

}  // namespace baton::program
