// Continuation-passing style makes the evaluation order explicit. Operators become lets; the continuation of
// a function call becomes its last argument.
//   add(f(x), 1)  ->  f(x, fn (%arg) { let %x_0 = add(%arg, 1); k(%x_0) })
// The continuation of an if is a function (join point) that both branches call:
//   add(if (c) { a } else { b }, 1)  ->  let %j = fn (%arg) { let %x_1 = add(%arg, 1); k(%x_1) };
//                                        if (c) { %j(a) } else { %j(b) }
// Nested functions take a continuation too; kernels and operators do not.

#include "baton/transform/functional/cps.h"

#include <algorithm>

#include "baton/ir/adt.h"
#include "baton/ir/analysis/features.h"
#include "baton/ir/analysis/normal_form.h"
#include "baton/ir/functions.h"
#include "baton/ir/variables.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"
#include "baton/support/pointer_map.h"
#include "baton/transform/functional/eta_expand.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

NodeInfo bare() { return NodeInfo(OriginSet::none()); }

/// The CPS form of a type: fn (A) -> R becomes fn (A, fn (R) -> answer) -> answer, also when nested in
/// `type`.
Type cps_type(const Type& type, const TypeVar& answer) {
  if (!type) return type;
  return rewrite_type(type, [&](const Type& part) -> Type {
    const auto* function = as_type<FuncTypeNode>(part);
    if (!function) return {};
    std::vector<Type> params;
    for (const Type& param : function->params()) params.push_back(cps_type(param, answer));
    params.push_back(func_type({cps_type(function->result(), answer)}, Type(answer)));
    return func_type(std::move(params), Type(answer), function->type_params());
  });
}

/// The module's functions by name, and those not converted yet.
struct Globals {
  IRModule module;
  std::vector<std::string> pending, done;

  // The name of the converted function; the original name for a kernel or an unknown function.
  Expr converted(const Expr& global) {
    const std::string& name = as<GlobalVarNode>(global)->name();
    const Function function = module->find(name);
    if (!function || is_closed(*function)) return global;
    if (std::find(done.begin(), done.end(), name) == done.end()) {
      done.push_back(name);
      pending.push_back(name);
    }
    return Expr(module->global_var(name + "_cps"));
  }
  bool is_closed_name(const Expr& callee) const {
    const auto* global = as<GlobalVarNode>(callee);
    const Function function = global ? module->find(global->name()) : Function();
    return global && (!function || is_closed(*function));
  }
};

class Converter {
 public:
  Converter(Globals& globals, uint64_t& next) : globals_(globals), next_(next), answer_(type_var("answer")) {}

  Function run(const Function& function) {
    push(Expr(function));
    while (!frames_.empty()) step();
    const auto* result = as<FunctionNode>(result_);
    std::vector<TypeVar> type_params = result->type_params();
    type_params.push_back(answer_);
    return make_function(result->params(), result->body(), result->ret_type(), result->attrs(),
                         result->info(), std::move(type_params));
  }

 private:
  struct Binding {
    Var var;
    Expr value;
  };
  /// Straight-line code, and its insertion point once it is complete.
  struct Scope {
    std::vector<Binding> bindings;
    Expr tail;
    Var arg;  // it is the body of fn (arg), which goes ...
    bool is_join = false;
    size_t scope = 0,
           binding = 0;  // ... into this binding (join), or becomes the last argument of the call before it
    Expr callee;         // of that call
    std::vector<Expr> args;
    NodeInfo call = bare();
  };
  /// A function's body or a branch: a chain of nested scopes, and the continuation that receives its value.
  struct Region {
    std::vector<Scope> scopes;
    Expr continuation;
  };
  struct Frame {
    Expr node;
    std::vector<Expr> operands;
    Var join;                 // of an if or match
    std::vector<Var> params;  // of a function
  };

  void push(const Expr& node) {
    frames_.emplace_back();
    frames_.back().node = node;
    if (node->kind() == ExprKind::kIf || node->kind() == ExprKind::kMatch) open_join(frames_.back());
    if (node->kind() == ExprKind::kFunction) open_function(frames_.back());
  }

  Scope& scope() { return regions_.back().scopes.back(); }
  Var fresh(const Type& type = {}) { return make_var("x_" + std::to_string(next_++), type, bare()); }
  Expr bind(Expr value) {
    const Var var = fresh();
    scope().bindings.push_back({var, std::move(value)});
    return Expr(var);
  }

  // ---- Names

  Var renamed(const Var& var) {
    const auto [at, fresh] = vars_.insert(var.get(), Var());
    if (fresh)
      *at = make_var(var->name(), cps_type(type_of(*var), answer_), NodeInfo(var->origins(), var->span()));
    return *at;
  }

  // ---- The walk

  void step() {
    Frame& frame = frames_.back();
    const Expr* next = operand(frame);
    if (!next) {
      finish();
      return;
    }
    const Expr node = *next;
    const auto* call = as<CallNode>(frame.node);
    if (Expr value = atom(node, call && frame.operands.empty()))
      deliver(std::move(value));
    else
      push(node);
  }

  // The converted form of a `node` that needs no code, else null.
  Expr atom(const Expr& node, bool is_called) {
    switch (node->kind()) {
      case ExprKind::kVar:
        return Expr(renamed(as_ref<VarNode>(node)));
      case ExprKind::kGlobalVar:
        return globals_.converted(node);
      case ExprKind::kOp:
        if (!is_called)
          throw NotSupported("to_cps: operator " + as<OpNode>(node)->name() +
                             " as a value: it cannot take a continuation");
        return node;
      case ExprKind::kConstant:
      case ExprKind::kConstructor:
        return node;
      case ExprKind::kFunction:
        if (const auto* function = as<FunctionNode>(node); !function || !is_closed(*function)) return {};
        if (!is_called)
          throw NotSupported(
              "to_cps: a kernel that is not called where it stands cannot take a continuation");
        return node;
      default:
        return {};
    }
  }

  static const Expr* operand(const Frame& frame) {
    const size_t at = frame.operands.size();
    const ExprNode& node = *frame.node;
    // The body of a let is walked in place of the let.
    return node.kind() == ExprKind::kLet && at > 0 ? nullptr : child(node, at);
  }

  /// Passes a value to the node that requested it.
  void deliver(Expr value) {
    // The body of a let is walked in place of the let.
    while (!frames_.empty() && frames_.back().node->kind() == ExprKind::kLet) {
      const auto& let = static_cast<const LetNode&>(*frames_.back().node);
      scope().bindings.push_back({renamed(let.var()), std::move(value)});
      const Expr body = let.body();
      frames_.pop_back();
      value = atom(body, false);
      if (value) continue;
      push(body);
      return;
    }
    if (frames_.empty()) {
      result_ = std::move(value);
      return;
    }
    Frame& frame = frames_.back();
    if (!frame.join) {
      frame.operands.push_back(std::move(value));
      return;
    }
    const bool first = frame.operands.empty();
    frame.operands.push_back(first ? std::move(value) : close_region(std::move(value)));
    if (operand(frame)) open_branch(frame);
  }

  void finish() {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    const Expr& node = frame.node;
    auto& operands = frame.operands;
    const NodeInfo info = node->with_type({});
    switch (node->kind()) {
      case ExprKind::kTuple:
        deliver(make_tuple(std::move(operands), info));
        return;
      case ExprKind::kTupleGetItem:
        deliver(make_tuple_get_item(operands[0], as<TupleGetItemNode>(node)->index(), info));
        return;
      case ExprKind::kRefCreate:
        deliver(make_ref_create(operands[0], info));
        return;
      case ExprKind::kRefRead:
        deliver(bind(make_ref_read(operands[0], info)));
        return;
      case ExprKind::kRefWrite:
        deliver(bind(make_ref_write(operands[0], operands[1], info)));
        return;
      case ExprKind::kCall:
        call(*as<CallNode>(node), operands);
        return;
      case ExprKind::kFunction:
        close_function(frame);
        return;
      case ExprKind::kIf:
        continue_at_join(frame, make_if(operands[0], operands[1], operands[2], info));
        return;
      case ExprKind::kMatch: {
        const auto* match = as<MatchNode>(node);
        std::vector<Clause> clauses;
        for (size_t i = 0; i < match->clauses().size(); ++i)
          clauses.push_back(
              {rewrite_pattern(match->clauses()[i].pattern, [&](const Var& var) { return renamed(var); }),
               operands[i + 1]});
        continue_at_join(frame, make_match(operands[0], std::move(clauses), match->complete(), info));
        return;
      }
      default:
        break;
    }
    BATON_CHECK(false, "no operands are asked for an atom");
  }

  // ---- Calls

  void call(const CallNode& call, std::vector<Expr>& operands) {
    const Expr callee = operands[0];
    std::vector<Expr> args(operands.begin() + 1, operands.end());
    const ExprKind kind = call.callee()->kind();
    const bool direct = kind == ExprKind::kOp || kind == ExprKind::kConstructor ||
                        globals_.is_closed_name(call.callee()) ||
                        (kind == ExprKind::kFunction && is_closed(*as<FunctionNode>(call.callee())));
    if (direct) {
      deliver(bind(make_call(callee, std::move(args), call.attrs(), call.with_type({}))));
      return;
    }
    Scope rest;
    rest.arg = argument(Expr(&call));
    rest.callee = callee;
    rest.args = std::move(args);
    rest.call = call.with_type({});
    const Expr value(rest.arg);
    regions_.back().scopes.push_back(std::move(rest));
    deliver(value);
  }

  Var argument(const Expr& value) {
    return make_var("arg", cps_type(value->checked_type(), answer_), bare());
  }

  // ---- Ifs and matches

  // The join point, a function that every branch calls; it is bound before the condition is evaluated.
  void open_join(Frame& frame) {
    frame.join = fresh();
    scope().bindings.push_back({frame.join, {}});
    joins_.push_back({regions_.back().scopes.size() - 1, scope().bindings.size() - 1});
  }
  void open_branch(const Frame& frame) {
    regions_.emplace_back();
    regions_.back().continuation = Expr(frame.join);
    regions_.back().scopes.emplace_back();
  }
  void continue_at_join(const Frame& frame, Expr branches) {
    scope().tail = std::move(branches);
    Scope rest;
    rest.arg = argument(frame.node);
    rest.is_join = true;
    rest.scope = joins_.back().first;
    rest.binding = joins_.back().second;
    joins_.pop_back();
    const Expr value(rest.arg);
    regions_.back().scopes.push_back(std::move(rest));
    deliver(value);
  }

  // ---- Functions

  void open_function(Frame& frame) {
    const auto& function = *as<FunctionNode>(frame.node);
    for (const Var& param : function.params()) frame.params.push_back(renamed(param));
    const Type result =
        function.body()->checked_type() ? function.body()->checked_type() : function.ret_type();
    BATON_CHECK(result, "to_cps needs types");
    frame.params.push_back(make_var("k", func_type({cps_type(result, answer_)}, Type(answer_)), bare()));
    regions_.emplace_back();
    regions_.back().continuation = Expr(frame.params.back());
    regions_.back().scopes.emplace_back();
  }
  void close_function(Frame& frame) {
    const auto& function = *as<FunctionNode>(frame.node);
    Expr body = close_region(frame.operands[0]);
    deliver(make_function(std::move(frame.params), std::move(body), Type(answer_), function.attrs(),
                          function.with_type({}), function.type_params()));
  }

  // Closes a region with a known value: the innermost scope passes it on; each scope is wrapped into its
  // parent.
  Expr close_region(Expr value) {
    Region region = std::move(regions_.back());
    regions_.pop_back();
    region.scopes.back().tail = make_call(region.continuation, {std::move(value)}, {}, bare());
    for (;;) {
      Scope inner = std::move(region.scopes.back());
      region.scopes.pop_back();
      Expr body = std::move(inner.tail);
      for (auto binding = inner.bindings.rbegin(); binding != inner.bindings.rend(); ++binding)
        body = make_let(binding->var, binding->value, body, bare());
      if (region.scopes.empty()) return body;
      Expr rest(make_function({inner.arg}, body, Type(answer_), {}, bare()));
      if (inner.is_join) {
        region.scopes[inner.scope].bindings[inner.binding].value = std::move(rest);
      } else {
        inner.args.push_back(std::move(rest));
        region.scopes.back().tail = make_call(inner.callee, std::move(inner.args), {}, inner.call);
      }
    }
  }

  Globals& globals_;
  uint64_t& next_;
  TypeVar answer_;
  PointerMap<Var> vars_;
  std::vector<Frame> frames_;
  std::vector<Region> regions_;
  std::vector<std::pair<size_t, size_t>> joins_;  // where the open join points are bound: scope, binding
  Expr result_;
};

// Basic-block form, so that shared values are not duplicated. A constructor used as a value becomes a
// function, which can take a continuation.
Function prepared(const Function& function, const IRModule& module) {
  Function result = eta_expand_constructors(function, *module);
  if (features(Expr(result)).count(Feature::kGraph)) {
    const IRModule alone = make_module();
    alone->set("main", result);
    result = to_normal_form(alone, NormalForm::kAll)->find("main");
  }
  return as_ref<FunctionNode>(infer_type(Expr(result), module.get()));
}

Pass on_main(const char* name, Function (*change)(const Function&, const IRModule&)) {
  return module_pass({1, name, {}}, [=](IRModule module, const PassContext&) {
    const Function main = module->find("main");
    if (!main) throw Error(std::string(name) + ": the module has no @main");
    module->set("main", change(main, module));
    return infer_types(std::move(module));
  });
}

}  // namespace

Function to_cps(const Function& function, const IRModule& module) {
  if (is_closed(*function)) throw NotSupported("to_cps: a kernel cannot take a continuation");
  Globals globals{module, {}, {}};
  uint64_t next = 0;
  const Function result = Converter(globals, next).run(prepared(function, module));
  while (!globals.pending.empty()) {
    const std::string name = globals.pending.back();
    globals.pending.pop_back();
    module->set(name + "_cps", Converter(globals, next).run(prepared(module->find(name), module)));
  }
  return result;
}

bool is_cps(const Function& function) {
  if (function->type_params().empty() || function->params().empty() ||
      function->ret_type() != Type(function->type_params().back()))
    return false;
  const auto* continuation = as_type<FuncTypeNode>(type_of(*function->params().back()));
  return continuation && continuation->params().size() == 1 &&
         same_type(continuation->result(), function->ret_type());
}

Function un_cps(const Function& function) {
  if (!is_cps(function))
    throw Error(
        "un_cps: the function's last parameter is no continuation `fn (T) -> answer`, where `answer` is its "
        "last type parameter and its result");
  const auto* continuation = as_type<FuncTypeNode>(type_of(*function->params().back()));
  const TypeVar answer = function->type_params().back();
  const auto check = [&](const Type& type, const std::string& what) {
    const std::vector<TypeVar> free = free_type_vars(type);
    if (std::find(free.begin(), free.end(), answer) != free.end())
      throw Error("un_cps: " + what +
                  " has functions in it: their continuations would have another answer than this function's");
  };
  check(continuation->params()[0], "the result");
  for (size_t i = 0; i + 1 < function->params().size(); ++i)
    check(type_of(*function->params()[i]), "parameter %" + function->params()[i]->name());
  std::vector<Var> params;
  for (size_t i = 0; i + 1 < function->params().size(); ++i)
    params.push_back(make_var(function->params()[i]->name(), type_of(*function->params()[i]), bare()));
  const Type result = continuation->params()[0];
  const Var value = make_var("x", result, bare());
  std::vector<Expr> args(params.begin(), params.end());
  args.emplace_back(make_function({value}, Expr(value), result, {}, bare()));
  std::vector<TypeVar> type_params = function->type_params();
  type_params.pop_back();
  return make_function(std::move(params), make_call(Expr(function), std::move(args), {}, bare()), result,
                       function->attrs(), bare(), type_params);
}

Pass to_cps_pass() { return on_main("to_cps", to_cps); }

Pass un_cps_pass() {
  return on_main("un_cps", [](const Function& function, const IRModule& module) {
    return un_cps(is_cps(function) ? function : to_cps(function, module));
  });
}

}  // namespace baton
