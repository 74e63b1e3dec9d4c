#include "baton/driver/vm/function_scope.h"

#include <algorithm>

#include "baton/ir/rules/shape_rule.h"
#include "baton/ir/variables.h"
#include "baton/ir/visit.h"
#include "baton/support/error.h"

namespace baton::vm {

using Kind = LoweredValue::Kind;

FunctionScope::FunctionScope(LoweringState& state, const FunctionNode& function,
                             const std::vector<Var>& captured, bool called_from_outside)
    : state_(state),
      function_(function),
      code_(*state.out.program, static_cast<uint32_t>(function.params().size() + captured.size())),
      pieces_(state, code_),
      parameters_(static_cast<Register>(function.params().size())) {
  Register next = 0;
  for (const std::vector<Var>* list : {&function.params(), &captured})
    for (const Var& var : *list)
      bind(var,
           in_register(next++, var->checked_type(), called_from_outside ? 1 : state.device_of(var.get())));
  count_uses(function);
  // Calls of known functions pass on what these capture, which the text does not show.
  for (const Var& var : captured) uses_[var.get()] = kAlways;
}

LoweredRef FunctionScope::find(const VarNode* var) const {
  const auto at = values_.variables.find(var);
  return at == values_.variables.end() ? LoweredRef() : at->second;
}

void FunctionScope::count_uses(const FunctionNode& function) {
  post_order(
      function.body(),
      [&](const Expr& node) {
        if (const auto* inner = as<FunctionNode>(node); inner && !inner->is_primitive())
          for (const Var& var : free_vars(node)) uses_[var.get()] = kAlways;
        const auto count = [&](const Expr& child) {
          if (const auto* var = as<VarNode>(child))
            if (size_t& uses = uses_[var]; uses < kAlways) ++uses;
        };
        for (const Expr& child : Children(*node)) count(child);
      },
      [](const Expr& node) { return node->kind() != ExprKind::kFunction; });
  if (const auto* var = as<VarNode>(function.body())) uses_[var] = kAlways;
}

void FunctionScope::bind(const Var& var, LoweredRef value) {
  if (value->name.empty() && value->kind == Kind::kRegister) value->name = var->name();
  values_.variables[var.get()] = std::move(value);
}

LoweredRef FunctionScope::use(const VarNode* var) {
  const auto at = values_.variables.find(var);
  if (at == values_.variables.end()) throw Error("the variable %" + var->name() + " has no value");
  LoweredRef value = at->second;
  size_t& uses = uses_[var];
  if (uses < kAlways && uses > 0 && --uses == 0) values_.variables.erase(at);
  return value;
}

void FunctionScope::flush(std::vector<LoweredRef> also) {
  if (pieces_.empty()) return;
  for (const auto& [var, value] : values_.variables) {
    const auto uses = uses_.find(var);
    if (uses != uses_.end() && uses->second > 0) also.push_back(value);
  }
  keep_copies(also);
  pieces_.flush(also);
}

void FunctionScope::flush_for(const std::vector<LoweredRef>& values) {
  if (std::ranges::any_of(values, [](const LoweredRef& value) { return is_pending(*value); })) flush(values);
}

Register FunctionScope::as_register(const LoweredRef& value) {
  flush_for({value});
  switch (value->kind) {
    case Kind::kRegister:
      return value->where;
    case Kind::kPending:
      break;
    case Kind::kConstant:
      return constant_register(*value);
    case Kind::kTuple: {
      std::vector<Register> fields;
      for (const LoweredRef& field : value->fields) fields.push_back(as_register(field));
      return emit_made(Opcode::kTuple, {}, fields);
    }
    case Kind::kFunction: {
      std::vector<Register> captured;
      std::vector<LoweredRef> values;
      for (const Var& var : value->captured) values.push_back(this->captured(var));
      captured = as_registers(values);
      return emit_made(Opcode::kClosure, {value->where}, captured);
    }
    case Kind::kConstructor: {
      const Register made = code_.fresh();
      code_.emit(Opcode::kConstructor, {made, value->where});
      return made;
    }
  }
  internal_error(__FILE__, __LINE__, "a pending value that no piece computes", "");
}

std::vector<Register> FunctionScope::as_registers(const std::vector<LoweredRef>& values) {
  flush_for(values);
  std::vector<Register> registers;
  for (const LoweredRef& value : values) registers.push_back(as_register(value));
  return registers;
}

Register FunctionScope::constant_register(const LoweredValue& constant) {
  if (constant.device != 1) return pieces_.constant_on_device(constant);
  const int32_t number = constant.where;
  const NDArray& value = state_.out.program->constants[static_cast<size_t>(number)].second;
  IntegerKind kind{};
  const std::optional<uint32_t> load = state_.add_load(constant);
  const bool is_integer = value.ndim() == 0 && is_integer_kind(value.dtype(), &kind);
  if (is_integer && !load) return integer(integers_of(value)[0], kind);
  const Register made = code_.fresh();
  if (is_integer)
    emit_integer(made, integers_of(value)[0], kind, load);
  else
    code_.emit(Opcode::kConstant, {made, number}, load);
  return made;
}

void FunctionScope::emit_integer(Register made, int64_t number, IntegerKind kind,
                                 std::optional<uint32_t> node) {
  code_.emit(
      Opcode::kInteger,
      {made, static_cast<int32_t>(kind), static_cast<int32_t>(number), static_cast<int32_t>(number >> 32)},
      node);
}

Register FunctionScope::integer(int64_t number, IntegerKind kind) {
  const auto [at, fresh] = values_.integers.try_emplace({number, kind}, 0);
  if (!fresh) return at->second;
  at->second = code_.fresh();
  emit_integer(at->second, number, kind, {});
  return at->second;
}

Register FunctionScope::emit_made(Opcode op, std::vector<int32_t> words, const std::vector<Register>& list) {
  const Register made = code_.fresh();
  words.insert(words.begin(), made);
  CodeBuilder::append(words, list);
  code_.emit(op, std::move(words));
  return made;
}

LoweredRef FunctionScope::expanded(const LoweredRef& value) {
  const auto* tuple = as_type<TupleTypeNode>(value->type);
  if (value->kind != Kind::kRegister || !tuple) return value;
  std::vector<LoweredRef> fields;
  for (size_t i = 0; i < tuple->fields().size(); ++i)
    fields.push_back(expanded(field(value, static_cast<int32_t>(i), tuple->fields()[i])));
  return tuple_of(std::move(fields), value->type);
}

LoweredRef FunctionScope::field(const LoweredRef& value, int32_t index, const Type& type) {
  if (value->kind == Kind::kTuple) return value->fields.at(static_cast<size_t>(index));
  const Register from = as_register(value), made = code_.fresh();
  code_.emit(Opcode::kField, {made, from, index});
  return in_register(made, type, value->device);
}

Register FunctionScope::emit_integers(const IntegerFunction& function, const std::vector<LoweredRef>& args,
                                      uint32_t node) {
  std::vector<Register> places;
  for (const LoweredRef& arg : args) places.push_back(as_register(arg));
  for (const IntegerStep& step : function.steps) {
    const Register made = code_.fresh();
    std::vector<int32_t> words{made, static_cast<int32_t>(step.kind)};
    for (const int each : step.operands) {
      if (each >= 0) {
        words.push_back(places[static_cast<size_t>(each)]);
        continue;
      }
      const auto& [number, kind] = function.numbers[static_cast<size_t>(~each)];
      words.push_back(integer(number, kind));
    }
    code_.emit(step.op, std::move(words), node);
    places.push_back(made);
  }
  return places.back();
}

void FunctionScope::emit_call(const Span& place, const LoweredRef& callee, std::vector<LoweredRef> args,
                              std::optional<Register> made) {
  const bool known = callee->kind == Kind::kFunction;
  if (!known) args.insert(args.begin(), callee);
  for (const Var& var : callee->captured) args.push_back(captured(var));
  std::vector<Register> list = as_registers(args);
  std::vector<int32_t> words{known ? callee->where : list[0]};
  if (made) words.push_back(*made);
  if (!known) list.erase(list.begin());
  CodeBuilder::append(words, list);
  const Opcode op = known ? (made ? Opcode::kCall : Opcode::kTailCall)
                          : (made ? Opcode::kCallValue : Opcode::kTailCallValue);
  code_.emit_at(place, op, std::move(words));
  if (!made) pieces_.drop();
}

void FunctionScope::return_value(const LoweredRef& value) {
  code_.emit(Opcode::kReturn, {as_register(value)});
  pieces_.drop();
}

}  // namespace baton::vm
