#include "baton/driver/vm/lowering.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "baton/driver/vm/function_scope.h"
#include "baton/interpreter/value_exprs.h"
#include "baton/ir/analysis/call_graph.h"
#include "baton/ir/analysis/constructors.h"
#include "baton/ir/extent.h"
#include "baton/ir/op.h"
#include "baton/ir/variables.h"
#include "baton/ir/visit.h"
#include "baton/runtime/vm/check.h"
#include "baton/support/error.h"

namespace baton::vm {

namespace {

using Kind = LoweredValue::Kind;

/// Where the value of an expression goes.
struct Target {
  Register where = 0;
  bool is_result = false;  ///< of the function: nothing comes after it
  int device = 1;          ///< of what stays on devices
  Type type = {};
};

ParameterType parameter_type(const Type& type, const std::vector<NamedExtent>& bounds) {
  ParameterType made;
  if (const auto* tensor = as_type<TensorTypeNode>(type)) {
    made.kind = ParameterType::Kind::kTensor;
    made.dtype = tensor->dtype();
    for (const Dim dim : tensor->shape()) {
      made.extents.push_back(dim.is_any() ? -1 : dim.value());
      made.names.push_back(dim.is_symbolic() ? extent_text(dim) : "");
      made.most.push_back(dim.is_any() ? most_of(dim, bounds).value_or(-1) : -1);
    }
  } else if (const auto* tuple = as_type<TupleTypeNode>(type)) {
    made.kind = ParameterType::Kind::kTuple;
    for (const Type& field : tuple->fields()) made.fields.push_back(parameter_type(field, bounds));
  }
  return made;
}

/// An operator outside of any kernel, as one.
Function kernel_of_operator(const CallNode& call) {
  std::vector<Var> params;
  std::vector<Expr> args;
  for (const Expr& arg : call.args()) {
    params.push_back(make_var("p" + std::to_string(params.size()), arg->checked_type(),
                              NodeInfo(OriginSet::none(), {}, arg->checked_type())));
    args.push_back(Expr(params.back()));
  }
  const Call inner = make_call(call.callee(), std::move(args), call.attrs(), call.info());
  return make_function(std::move(params), Expr(inner), call.checked_type(), {{"Primitive", int64_t{1}}},
                       NodeInfo(call.origins(), call.span()));
}

/// The functions of a program, of which some are found while others are lowered.
class ProgramLowering {
 public:
  ProgramLowering(LoweringState& state) : state(state) {
    for (const auto& [name, function] : state.module->functions())
      if (!function->is_primitive()) globals_[name] = add_function(name, *function, 0, true);
  }
  void run();

  uint32_t add_function(std::string name, const FunctionNode& function, uint32_t captured, bool is_global) {
    FunctionCode code;
    code.name = std::move(name);
    code.parameters = static_cast<uint32_t>(function.params().size());
    code.captured = captured;
    code.is_global = is_global;
    code.line = function.span().line;
    for (const Var& param : function.params()) {
      code.parameter_names.push_back(param->name());
      code.parameter_types.push_back(parameter_type(param->checked_type(), state.options.bounds));
    }
    code.result_type = parameter_type(function.body()->checked_type(), {});
    state.out.program->functions.push_back(std::move(code));
    return static_cast<uint32_t>(state.out.program->functions.size()) - 1;
  }
  uint32_t global(const std::string& name) const {
    const auto at = globals_.find(name);
    if (at == globals_.end()) throw Error("the module has no function @" + name);
    return at->second;
  }
  int32_t constructor(const ConstructorNode& constructor) {
    const auto [at, fresh] = constructors_.try_emplace(&constructor, state.out.program->constructors.size());
    if (fresh)
      state.out.program->constructors.push_back(
          {constructor_tag(constructor), program::info_of(Constructor(&constructor))});
    return static_cast<int32_t>(at->second);
  }
  int32_t text(std::string text) {
    state.out.program->texts.push_back(std::move(text));
    return static_cast<int32_t>(state.out.program->texts.size()) - 1;
  }

  LoweringState& state;

 private:
  std::map<std::string, uint32_t> globals_;
  std::map<const ConstructorNode*, size_t> constructors_;
};

class FunctionLowering {
 public:
  /// `is_entry`: only called from outside.
  FunctionLowering(ProgramLowering& program, const FunctionNode& function, const std::vector<Var>& captured,
                   bool is_entry = false)
      : program_(program),
        function_(function),
        is_entry_(is_entry),
        scope_(program.state, function, captured, is_entry) {}

  void known_function(const Var& var, LoweredRef value) { scope_.bind(var, std::move(value)); }

  void run(uint32_t number) {
    lower(function_.body(),
          {0, true, is_entry_ ? 1 : device_of(function_.body()), function_.body()->checked_type()});
    scope_.code().finish(program_.state.out.program->functions[number]);
  }

 private:
  int device_of(const Expr& expr) const { return program_.state.device_of(expr.get()); }
  LoweredRef made(Register where, const Expr& expr, const Type& type) const {
    return in_register(where, type, device_of(expr));
  }

  /// The value of an operand: in A-normal form these are leaves.
  LoweredRef operand(const Expr& expr) {
    switch (expr->kind()) {
      case ExprKind::kVar:
        return scope_.use(as<VarNode>(expr));
      case ExprKind::kConstant: {
        const auto* constant = as<ConstantNode>(expr);
        return std::make_shared<LoweredValue>(
            LoweredValue{.kind = Kind::kConstant,
                         .where = program_.state.constant(constant->value(), constant->origins()),
                         .type = constant->checked_type()});
      }
      case ExprKind::kGlobalVar:
        return std::make_shared<LoweredValue>(
            LoweredValue{.kind = Kind::kFunction,
                         .where = static_cast<int32_t>(program_.global(as<GlobalVarNode>(expr)->name())),
                         .type = expr->checked_type()});
      case ExprKind::kConstructor: {
        const auto* constructor = as<ConstructorNode>(expr);
        if (constructor->inputs().empty()) return constructed(*constructor, {}, expr->checked_type(), 1);
        return std::make_shared<LoweredValue>(
            LoweredValue{.kind = Kind::kConstructor, .where = program_.constructor(*constructor)});
      }
      case ExprKind::kFunction:
        return function(*as<FunctionNode>(expr), "fn", nullptr);
      default:
        return value_of(expr, expr->checked_type());
    }
  }
  std::vector<LoweredRef> operands(const ExprList& exprs) {
    std::vector<LoweredRef> all;
    for (const Expr& expr : exprs) all.push_back(operand(expr));
    return all;
  }

  void deliver(LoweredRef value, const Target& target) {
    value = scope_.placed(value, target.type, target.device, OriginSet::none());
    if (target.is_result) return scope_.return_value(value);
    scope_.code().emit(Opcode::kMove, {target.where, scope_.as_register(value)});
  }

  void lower(Expr expr, const Target& target) {
    for (;;) {
      if (const auto* let = as<LetNode>(expr)) {
        const Expr body = let->body(), value = let->value();
        if (body == Expr(let->var())) {  // let %x = value; %x  ->  value
          expr = value;
          continue;
        }
        const auto* inner = as<FunctionNode>(value);
        if (inner && inner->is_primitive())  // one that is called several times
          kernels_[let->var().get()] = Function(inner);
        else if (inner)
          scope_.bind(let->var(), function(*inner, let->var()->name(), let->var().get()));
        else
          scope_.bind(let->var(), value_of(value, let->var()->checked_type()));
        expr = body;
        continue;
      }
      if (const auto* branch = as<IfNode>(expr)) return lower_if(*branch, target);
      if (const auto* match = as<MatchNode>(expr)) return lower_match(*match, target);
      const auto* call = as<CallNode>(expr);
      if (call && target.is_result && calls_function(*call)) return emit_call(*call, {});
      return deliver(
          as<CallNode>(expr) || !is_leaf(expr->kind()) ? value_of(expr, expr->checked_type()) : operand(expr),
          target);
    }
  }

  LoweredRef value_of(const Expr& expr, const Type& type) {
    switch (expr->kind()) {
      case ExprKind::kLet:
      case ExprKind::kIf:
      case ExprKind::kMatch: {
        const Register where = scope_.code().fresh();
        lower(expr, {where, false, device_of(expr), type});
        return made(where, expr, type);
      }
      case ExprKind::kTuple:
        return tuple_of(operands(as<TupleNode>(expr)->fields()), type);
      case ExprKind::kTupleGetItem: {
        const auto* item = as<TupleGetItemNode>(expr);
        return scope_.field(operand(item->tuple()), item->index(), type);
      }
      case ExprKind::kCall:
        return call(*as<CallNode>(expr), type);
      case ExprKind::kRefCreate:
        return made(one(Opcode::kMakeCell, as<RefCreateNode>(expr)->value(), device_of(expr)), expr, type);
      case ExprKind::kRefRead:
        return made(one(Opcode::kReadCell, as<RefReadNode>(expr)->ref(), device_of(expr)), expr, type);
      case ExprKind::kRefWrite: {
        const auto* write = as<RefWriteNode>(expr);
        const LoweredRef ref = operand(write->ref());
        const std::vector<Register> both =
            scope_.as_registers({ref, placed(write->value(), {}, ref->device, OriginSet::none())});
        scope_.code().emit(Opcode::kWriteCell, both);
        return tuple_of({}, type);
      }
      default:
        return operand(expr);
    }
  }
  /// An operand for a place of that type; null: of its own.
  LoweredRef placed(const Expr& expr, const Type& type, int device, const OriginSet& reader) {
    return scope_.placed(operand(expr), type ? type : expr->checked_type(), device, reader);
  }
  Register one(Opcode op, const Expr& of, int device) {
    const Register from = scope_.as_register(placed(of, {}, device, OriginSet::none())),
                   made = scope_.code().fresh();
    scope_.code().emit(op, {made, from});
    return made;
  }

  void lower_if(const IfNode& branch, const Target& target) {
    const Register condition = scope_.as_register(placed(branch.condition(), {}, 1, OriginSet::none()));
    scope_.flush();
    const int32_t otherwise = scope_.code().label(), end = scope_.code().label();
    scope_.code().emit_at(branch.span(), Opcode::kUnless, {condition, otherwise}, "if");
    const FunctionScope::Values around = scope_.values();
    lower(branch.then(), target);
    scope_.flush();
    if (!target.is_result) scope_.code().emit(Opcode::kJump, {end});
    scope_.restore(around);
    scope_.code().place(otherwise);
    lower(branch.otherwise(), target);
    scope_.flush();
    scope_.restore(around);
    if (!target.is_result) scope_.code().place(end);
  }

  void lower_match(const MatchNode& match, const Target& target) {
    const LoweredRef data = operand(match.data());
    scope_.flush({data});
    const int32_t end = scope_.code().label();
    const FunctionScope::Values around = scope_.values();
    bool open = true;  // whether control reaches the next clause
    for (const Clause& clause : match.clauses()) {
      if (!open) break;
      const int32_t next = scope_.code().label();
      open = fit(clause.pattern, data, next, match.span());
      lower(clause.body, target);
      scope_.flush();
      if (!target.is_result) scope_.code().emit(Opcode::kJump, {end});
      scope_.restore(around);
      if (open) scope_.code().place(next);
    }
    if (open) {
      const std::string place = match.span() ? " (line " + std::to_string(match.span().line) + ")" : "";
      scope_.code().emit(Opcode::kFatal, {program_.text("match: no clause fits the value" + place)});
    }
    if (!target.is_result) scope_.code().place(end);
  }

  /// Binds the variables of a pattern; what does not fit goes on at `other`. Whether anything may not fit.
  bool fit(const Pattern& pattern, const LoweredRef& value, int32_t other, const Span& place) {
    switch (pattern->kind()) {
      case PatternKind::kWildcard:
        return false;
      case PatternKind::kVar:
        scope_.bind(pattern->var(), value);
        return false;
      case PatternKind::kConstructor: {
        const Register from = scope_.as_register(value);
        scope_.code().emit_at(place, Opcode::kUnlessTag,
                              {from, constructor_tag(*pattern->constructor()), other},
                              "match " + pattern->constructor()->name());
        const LoweredRef held = in_register(from, value->type, value->device);
        for (size_t i = 0; i < pattern->patterns().size(); ++i) fit_field(pattern, i, held, other, place);
        return true;
      }
      case PatternKind::kTuple: {
        bool may_not = false;
        for (size_t i = 0; i < pattern->patterns().size(); ++i)
          may_not |= fit_field(pattern, i, value, other, place);
        return may_not;
      }
    }
    return true;
  }
  bool fit_field(const Pattern& pattern, size_t index, const LoweredRef& value, int32_t other,
                 const Span& place) {
    const Pattern& part = pattern->patterns()[index];
    if (part->kind() == PatternKind::kWildcard) return false;
    const auto* tuple = as_type<TupleTypeNode>(value->type);
    Type type = tuple && pattern->kind() == PatternKind::kTuple ? tuple->fields()[index] : Type();
    if (part->kind() == PatternKind::kVar) type = part->var()->checked_type();
    return fit(part, scope_.field(value, static_cast<int32_t>(index), type), other, place);
  }

  /// The kernel that is called, by name, as a literal or by a variable; null when it is none.
  Function kernel_of(const CallNode& call) const {
    const auto at = kernels_.find(as<VarNode>(call.callee()));
    return at != kernels_.end() ? at->second : kernel_called(*program_.state.module, call);
  }
  bool calls_function(const CallNode& call) const {
    return !call.op() && call.callee()->kind() != ExprKind::kConstructor && !kernel_of(call);
  }

  LoweredRef constructed(const ConstructorNode& constructor, const ExprList& args, const Type& type,
                         int device) {
    std::vector<LoweredRef> fields;
    for (const Expr& arg : args) fields.push_back(placed(arg, {}, device, OriginSet::none()));
    return in_register(
        scope_.emit_made(Opcode::kData, {program_.constructor(constructor)}, scope_.as_registers(fields)),
        type, device);
  }

  LoweredRef call(const CallNode& call, const Type& type) {
    if (const auto* constructor = as<ConstructorNode>(call.callee()))
      return constructed(*constructor, call.args(), type, device_of(Expr(&call)));
    if (calls_function(call)) {
      const Register where = scope_.code().fresh();
      emit_call(call, where);
      return made(where, Expr(&call), type);
    }
    if (call.op() && call.op()->name == "on_device") return operand(call.args()[0]);
    Function kernel = kernel_of(call);
    if (!kernel) kernel = kernel_of_operator(call);
    return call_kernel(kernel, call, type);
  }

  LoweredRef call_kernel(const Function& kernel, const CallNode& call, const Type& type) {
    std::vector<LoweredRef> args;
    for (const Expr& arg : call.args()) args.push_back(scope_.expanded(operand(arg)));
    return scope_.call_kernel(kernel, std::move(args), call.origins(), type, device_of(Expr(&call)));
  }

  /// Without `made`: as the last thing of the function.
  void emit_call(const CallNode& call, std::optional<Register> made) {
    const LoweredRef callee = operand(call.callee());
    const auto* type = as_type<FuncTypeNode>(call.callee()->checked_type());
    std::vector<LoweredRef> args;
    for (size_t i = 0; i < call.args().size(); ++i) {
      const Expr& arg = call.args()[i];
      const bool is_constant = arg->kind() == ExprKind::kConstant;
      args.push_back(placed(arg, type && i < type->params().size() ? type->params()[i] : Type(),
                            device_of(is_constant ? Expr(&call) : arg), call.origins()));
    }
    scope_.emit_call(call.span(), callee, std::move(args), made);
  }

  // ---- Functions within functions: what they capture is passed to them, where they are known.

  LoweredRef function(const FunctionNode& inner, const std::string& name, const VarNode* itself) {
    std::vector<Var> captured;
    std::vector<std::pair<Var, LoweredRef>> known;
    std::unordered_set<const VarNode*> seen;
    const std::function<void(const Var&)> capture = [&](const Var& var) {
      if (var.get() == itself || kernels_.contains(var.get()) || !seen.insert(var.get()).second) return;
      const LoweredRef value = scope_.find(var.get());
      if (!value) throw Error("the variable %" + var->name() + " has no value");
      if (value->kind != Kind::kFunction) {
        captured.push_back(var);
        return;
      }
      known.emplace_back(var, value);
      for (const Var& inside : value->captured) capture(inside);
    };
    for (const Var& var : free_vars(Expr(&inner))) capture(var);
    const uint32_t number = program_.add_function(name, inner, static_cast<uint32_t>(captured.size()), false);
    const auto made = std::make_shared<LoweredValue>(LoweredValue{.kind = Kind::kFunction,
                                                                  .where = static_cast<int32_t>(number),
                                                                  .type = inner.checked_type(),
                                                                  .captured = captured});
    FunctionLowering lowering(program_, inner, captured);
    lowering.kernels_ = kernels_;
    for (const auto& [var, value] : known) lowering.known_function(var, value);
    if (itself) lowering.known_function(Var(itself), made);
    lowering.run(number);
    return made;
  }

  ProgramLowering& program_;
  const FunctionNode& function_;
  const bool is_entry_;
  FunctionScope scope_;
  std::unordered_map<const VarNode*, Function> kernels_;  // bound by lets
};

void ProgramLowering::run() {
  const CallGraph calls(*state.module);
  for (const auto& [name, number] : globals_)
    FunctionLowering(*this, *state.module->find(name), {}, calls.references(name) == 0).run(number);
}

}  // namespace

LoweredProgram lower_program(const IRModule& module, const LoweringOptions& options) {
  LoweredProgram out;
  out.program = std::make_shared<Program>();
  LoweringState state{module, options, out, PlannedKernels(out.plan.kernels, options.mod_name)};
  ProgramLowering(state).run();
  out.plan.graph = std::move(state.graph);
  const Status checked = check(*out.program);
  BATON_CHECK(checked.ok(), "our own program is refused: " + checked.message);
  return out;
}

}  // namespace baton::vm
