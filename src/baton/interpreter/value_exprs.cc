#include "baton/interpreter/value_exprs.h"

#include <algorithm>

#include "baton/support/error.h"
#include "baton/support/pointer_map.h"

namespace baton::program {

namespace {

Expr made_of(const Value& value, std::vector<Expr> parts) {
  switch (value->kind()) {
    case ValueKind::kTensor:
      return constant(as_value<TensorValue>(value)->array());
    case ValueKind::kTuple:
      return tuple(std::move(parts));
    case ValueKind::kCell:
      return ref_create(std::move(parts.at(0)));
    case ValueKind::kFunction:
    case ValueKind::kDeviceTensor:
      break;
    case ValueKind::kData:
      if (const Constructor& made = constructor_of(*as_value<DataValue>(value)))
        return call_expr(Expr(made), std::move(parts));
      throw Error("a value of a data type without its constructor cannot be given to a program");
  }
  throw Error(describe(value) + " is no value that an expression can be made of");
}

}  // namespace

ConstructorRef info_of(const Constructor& constructor) {
  if (!constructor) return {};
  return std::make_shared<const ConstructorInfo>(ConstructorInfo{
      constructor->name(), constructor->belongs_to()->name(),
      static_cast<uint32_t>(constructor->inputs().size()), std::make_shared<const Constructor>(constructor)});
}

Constructor constructor_of(const DataValue& value) {
  if (!value.constructor() || !value.constructor()->definition) return {};
  return *static_cast<const Constructor*>(value.constructor()->definition.get());
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
