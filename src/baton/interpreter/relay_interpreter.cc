#include "baton/interpreter/relay_interpreter.h"

#include "baton/ir/analysis/constructors.h"
#include "baton/ir/op.h"
#include "baton/ir/rules/shape_rule.h"

namespace baton::program {

OwnFunction::OwnFunction(std::shared_ptr<const Codes> codes, Expr callee, std::string name,
                         std::vector<Value> captured)
    : codes_(std::move(codes)),
      callee_(std::move(callee)),
      name_(std::move(name)),
      captured_(std::move(captured)) {
  const auto at = codes_->functions.find(as<FunctionNode>(callee_));
  if (at != codes_->functions.end()) code_ = &at->second;
}

Ref<const OwnFunction> OwnFunction::of_global(const std::shared_ptr<const Codes>& codes,
                                              const std::string& name) {
  const auto at = codes->globals.find(name);
  if (at == codes->globals.end()) throw Error("the module has no function " + name);
  return make_ref<const OwnFunction>(codes, Expr(at->second), name);
}

Value RelayInterpreter::run(const FunctionValue& function, const std::vector<Value>& args) {
  for (const Value& arg : args) cells_.keep(arg);
  for (const Value& value : function.captured()) cells_.keep(value);
  Value result = called(function, args);
  if (!result) result = finish();
  cells_.keep(result);
  return result;
}

Value RelayInterpreter::finish() {
  for (uint64_t steps = 1;; ++steps) {
    if (steps % 64 == 0) context_.stop_if_asked();
    Value value = step();
    if (!value) continue;
    if (pending_.empty()) return value;
    Pending last = std::move(pending_.back());
    pending_.pop_back();
    frame_ = std::move(last.frame);
    bind(last.let->var(), std::move(value));
    expr_ = last.let->body().get();
  }
}

/// The value of expr_; null when evaluation continues with another expression, now in expr_.
Value RelayInterpreter::step() {
  switch (expr_->kind()) {
    case ExprKind::kLet:
      return enter_let(static_cast<const LetNode&>(*expr_));
    case ExprKind::kMatch:
      return enter_match(static_cast<const MatchNode&>(*expr_));
    case ExprKind::kCall:
      return enter_call(static_cast<const CallNode&>(*expr_));
    case ExprKind::kIf: {
      const auto& branch = static_cast<const IfNode&>(*expr_);
      expr_ = (truth(branch.condition()) ? branch.then() : branch.otherwise()).get();
      return {};
    }
    case ExprKind::kTuple:
      return tuple_value(operands(static_cast<const TupleNode&>(*expr_).fields()));
    case ExprKind::kTupleGetItem:
      return item(static_cast<const TupleGetItemNode&>(*expr_));
    case ExprKind::kRefCreate:
      return new_cell(operand(static_cast<const RefCreateNode&>(*expr_).value()));
    case ExprKind::kRefRead:
      return cell(static_cast<const RefReadNode&>(*expr_).ref())->value();
    case ExprKind::kRefWrite: {
      const auto& write = static_cast<const RefWriteNode&>(*expr_);
      cell(write.ref())->write(operand(write.value()));
      return tuple_value({});
    }
    case ExprKind::kVar:
    case ExprKind::kGlobalVar:
    case ExprKind::kConstant:
    case ExprKind::kOp:
    case ExprKind::kConstructor:
    case ExprKind::kFunction:
      return operand(Expr(expr_));
  }
  internal_error(__FILE__, __LINE__, "an expression of no kind", "");
}

Value RelayInterpreter::enter_let(const LetNode& let) {
  if (const auto* function = as<FunctionNode>(let.value())) {
    bind(let.var(), function_value(*function, let.var()->name()));
    expr_ = let.body().get();
    return {};
  }
  // let %x = value; %x  ->  value: a tail call leaves no frame.
  if (let.body() != Expr(let.var())) {
    if (pending_.size() >= kMostPending)
      throw Error("calls are nested more than " + std::to_string(kMostPending) +
                  " deep: does the recursion end?");
    pending_.push_back({frame_, &let});
  }
  expr_ = let.value().get();
  return {};
}

Value RelayInterpreter::enter_match(const MatchNode& match) {
  const Value value = operand(match.data());
  for (const Clause& clause : match.clauses()) {
    if (!fits(clause.pattern, value)) continue;
    expr_ = clause.body.get();
    return {};
  }
  throw Error("match: no clause fits " + describe(value));
}

bool RelayInterpreter::fits(const Pattern& pattern, const Value& value) {
  const std::vector<Value>* fields = nullptr;
  switch (pattern->kind()) {
    case PatternKind::kWildcard:
      return true;
    case PatternKind::kVar:
      bind(pattern->var(), value);
      return true;
    case PatternKind::kConstructor: {
      const auto* data = as_value<DataValue>(value);
      if (!data) throw Error("match: " + describe(value) + " is no value of a data type");
      if (data->tag() != constructor_tag(*pattern->constructor())) return false;
      fields = &data->fields();
      break;
    }
    case PatternKind::kTuple:
      if (!as_value<TupleValue>(value)) throw Error("match: " + describe(value) + " is no tuple");
      fields = &as_value<TupleValue>(value)->fields();
      break;
  }
  if (fields->size() != pattern->patterns().size())
    throw Error("match: " + describe(value) + " has " + std::to_string(fields->size()) +
                " fields, the pattern " + pattern_text(pattern) + " has " +
                std::to_string(pattern->patterns().size()));
  for (size_t i = 0; i < fields->size(); ++i)
    if (!fits(pattern->patterns()[i], (*fields)[i])) return false;
  return true;
}

Value RelayInterpreter::enter_call(const CallNode& call) {
  std::vector<Value> args = operands(call.args());
  if (call.op()) return evaluate_call(call, args, frame_->function->codes()->lowering, context_);
  if (const auto* constructor = as<ConstructorNode>(call.callee()))
    return data_value(*constructor, std::move(args));
  const Value callee = operand(call.callee());
  if (as_value<DataValue>(callee) && args.empty()) return callee;  // a nullary constructor
  const auto* function = as_value<FunctionValue>(callee);
  if (!function) throw Error(describe(callee) + " is called like a function");
  return called(*function, std::move(args));
}

/// The result of the call; null when its body is entered.
Value RelayInterpreter::called(const FunctionValue& function, std::vector<Value> args) {
  if (const ForeignFunction* foreign = function.foreign()) return foreign->call(args);
  const auto& own = static_cast<const OwnFunction&>(function);
  if (const auto* constructor = as<ConstructorNode>(own.callee()))
    return data_value(*constructor, std::move(args));
  const Code* code = own.code();
  BATON_CHECK(code, "a function without code");
  const size_t params = code->function->params().size();
  if (args.size() != params)
    throw Error(own.name() + " takes " + std::to_string(params) + " arguments, " +
                std::to_string(args.size()) + " were given");
  auto frame = make_ref<Frame>();
  frame->function = Ref<const OwnFunction>(&own);
  frame->slots = std::move(args);
  frame->slots.resize(code->slots.size());
  for (size_t i = 0; i < own.captured().size(); ++i)
    frame->slots[params + i] = own.captured()[i] ? own.captured()[i] : Value(&own);
  frame_ = std::move(frame);
  expr_ = code->function->body().get();
  return {};
}

Value RelayInterpreter::operand(const Expr& expr) {
  switch (expr->kind()) {
    case ExprKind::kVar: {
      const uint32_t* slot = code().slots.find(expr.get());
      if (!slot || !frame_->slots[*slot])
        throw Error("the variable %" + as<VarNode>(expr)->name() + " has no value");
      return frame_->slots[*slot];
    }
    case ExprKind::kConstant:
      return make_ref<const TensorValue>(as<ConstantNode>(expr)->value(), /*lent=*/true);
    case ExprKind::kGlobalVar:
      return OwnFunction::of_global(frame_->function->codes(), as<GlobalVarNode>(expr)->name());
    case ExprKind::kFunction:
      return function_value(*as<FunctionNode>(expr), "fn");
    case ExprKind::kConstructor: {
      const auto* constructor = as<ConstructorNode>(expr);
      if (constructor->inputs().empty()) return data_value(*constructor, {});
      return make_ref<const OwnFunction>(frame_->function->codes(), expr, constructor->name());
    }
    default:
      internal_error(__FILE__, __LINE__, "an operand that is not in A-normal form", "");
  }
}

Value RelayInterpreter::data_value(const ConstructorNode& constructor, std::vector<Value> fields) {
  ConstructorRef& info = constructors_[&constructor];
  if (!info) info = info_of(Constructor(&constructor));
  return make_ref<const DataValue>(constructor_tag(constructor), std::move(fields), info);
}

std::vector<Value> RelayInterpreter::operands(const ExprList& exprs) {
  std::vector<Value> values;
  for (const Expr& expr : exprs) values.push_back(operand(expr));
  return values;
}

Value RelayInterpreter::function_value(const FunctionNode& function, std::string name) {
  std::vector<Value> captured;
  for (const Var& var : frame_->function->codes()->functions.at(&function).captured)
    captured.push_back(frame_->slots[*code().slots.find(var.get())]);
  return make_ref<const OwnFunction>(frame_->function->codes(), Expr(&function), std::move(name),
                                     std::move(captured));
}

Value RelayInterpreter::item(const TupleGetItemNode& item) {
  const Value value = operand(item.tuple());
  const auto* tuple = as_value<TupleValue>(value);
  if (!tuple || item.index() < 0 || static_cast<size_t>(item.index()) >= tuple->fields().size())
    throw Error("field " + std::to_string(item.index()) + " is taken of " + describe(value));
  return tuple->fields()[static_cast<size_t>(item.index())];
}

Ref<const CellValue> RelayInterpreter::cell(const Expr& ref) {
  const Value value = operand(ref);
  if (const auto* cell = as_value<CellValue>(value)) return Ref<const CellValue>(cell);
  throw Error(describe(value) + " is used like a reference");
}

Value RelayInterpreter::new_cell(Value value) {
  const auto cell = make_ref<const CellValue>(std::move(value));
  cells_.add(cell);
  return cell;
}

bool RelayInterpreter::truth(const Expr& condition) {
  const Value value = operand(condition);
  const auto* tensor = as_value<TensorValue>(value);
  if (!tensor || tensor->array().size() != 1) throw Error("the condition of an if is " + describe(value));
  return integers_of(tensor->array())[0] != 0;
}

void RelayInterpreter::bind(const Var& var, Value value) {
  frame_->slots[*code().slots.find(var.get())] = std::move(value);
}

}  // namespace baton::program
