// Runs the program as far as it is known: functions are put in the place of their calls, operators of constants
// are computed, items are taken out of tuples, cells are read, and ifs and matches of known values become the
// branch taken. What is not known is written down, one let for each value:
//   let f = fn (y) { add(y, 1) }; f(f(x))
//   ->  let f = ..; let x_0 = 1; let x_1 = add(x, x_0); let x_2 = 1; let x_3 = add(x_1, x_2); x_3
// Values that nobody needs are left to DeadCodeElimination. A recursion is followed while an argument gets smaller.

#include "baton/transform/partial_evaluate.h"

#include <algorithm>
#include <map>

#include "baton/ir/all_vars.h"
#include "baton/ir/features.h"
#include "baton/ir/functions.h"
#include "baton/ir/op.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/transform/build.h"
#include "baton/transform/infer_type.h"
#include "baton/transform/match_types.h"
#include "baton/transform/normal_form.h"

namespace baton {

namespace partial {
namespace {

using Kind = Value::Kind;

bool is_dataflow(const std::set<Feature>& features) {
  return std::ranges::all_of(features, [](Feature feature) {
    return feature == Feature::kVar || feature == Feature::kGlobalVar || feature == Feature::kConstant ||
           feature == Feature::kOp || feature == Feature::kTuple || feature == Feature::kTupleGetItem ||
           feature == Feature::kCall || feature == Feature::kGraph;
  });
}

NodeInfo bare() { return NodeInfo(OriginSet::none()); }

class Machine {
 public:
  /// `graphs`: the functions are dataflow, of which what is used twice is evaluated once.
  Machine(const IRModuleNode& module, baton::Evaluator& evaluator, uint64_t& names, bool graphs)
      : module_(module), evaluator_(evaluator), names_(names), graphs_(graphs) {}

  Function run(const std::string& name, const Function& function) {
    auto self = make_ref<Value>();
    self->kind = Kind::kClosure;
    self->function = function;
    self->atom = Expr(globals_.at(name));
    envs_.emplace_back();
    emit(self, nullptr);
    while (!frames_.empty()) {
      if (next_)
        evaluate();
      else
        receive();
    }
    envs_.pop_back();
    return std::move(emitted_);
  }

  void know(const std::string& name, const GlobalVar& var) { globals_.emplace(name, var); }

 private:
  struct Binding {
    Var var;
    Expr value;
  };
  struct Env {
    PointerMap<ValueRef> values;
    std::vector<TypeVar> type_vars;
    std::vector<Type> types;
  };
  enum class Step : uint8_t { kNode, kReturn, kEmit, kKeep };
  struct More {  // what few frames need
    size_t store = 0;
    Expr then;
    std::vector<Clause> clauses;
    ValueRef self;
    Var name;
    std::vector<Var> params;
    size_t type_scope = 0;
  };
  struct Frame {
    Step step;
    Expr node;
    std::vector<ValueRef> values;
    std::unique_ptr<More> more;
  };

  // ---- values

  Ref<Value> value(Kind kind, Expr atom) {
    auto made = make_ref<Value>();
    made->kind = kind;
    made->atom = std::move(atom);
    made->time = time_++;
    return made;
  }
  ValueRef unknown(Expr atom) { return value(Kind::kUnknown, std::move(atom)); }

  Var fresh() { return make_var("x_" + std::to_string(names_++), {}, bare()); }
  Expr bind(Expr value) {
    lists_.back().push_back({fresh(), std::move(value)});
    return Expr(lists_.back().back().var);
  }
  Expr close_list(Expr result) {
    auto list = std::move(lists_.back());
    lists_.pop_back();
    for (auto binding = list.rbegin(); binding != list.rend(); ++binding)
      result = make_let(binding->var, binding->value, result, bare());
    return result;
  }

  ValueRef tensor(const Constant& constant) {
    const auto made = value(Kind::kTensor, bind(Expr(constant)));
    made->tensor = constant->value();
    made->origins = constant->origins();
    return made;
  }

  // A type as it is here, or null when it names a type that is not to be seen here.
  Type here(const Type& type) const {
    if (!type) return type;
    const Type seen = substitute_types(type, envs_.back().type_vars, envs_.back().types);
    for (const TypeVar& var : free_type_vars(seen))
      if (std::find(type_scope_.begin(), type_scope_.end(), var) == type_scope_.end()) return {};
    return seen;
  }
  Var copy(const Var& var) const {
    return make_var(var->name(), here(declared_type(*var)),
                    NodeInfo(var->origins(), var->span()));
  }

  // ---- evaluation: `next_` is to be looked at, or `value_` goes to the innermost frame

  void evaluate() {
    const Expr node = std::move(next_);
    next_ = {};
    if (graphs_ && is_shared(*node)) {
      if (const ValueRef* known = envs_.back().values.find(node.get())) {
        value_ = *known;
        return;
      }
      frames_.push_back({Step::kKeep, node, {}, {}});
    }
    switch (node->kind()) {
      case ExprKind::kVar: {
        const ValueRef* known = envs_.back().values.find(node.get());
        value_ = known ? *known : unknown(node);
        return;
      }
      case ExprKind::kGlobalVar:
        value_ = global(node);
        return;
      case ExprKind::kConstant:
        value_ = tensor(as_ref<ConstantNode>(node));
        return;
      case ExprKind::kOp:
        value_ = callee(node, node);
        return;
      case ExprKind::kConstructor:
        value_ = callee(node, node);
        return;
      case ExprKind::kFunction:
        open_function(as_ref<FunctionNode>(node), nullptr);
        return;
      default:
        break;
    }
    frames_.push_back({Step::kNode, node, {}, {}});
    advance();
  }

  // Whether a node of a graph may have several users: besides its first one, the evaluation itself holds it.
  static bool is_shared(const ExprNode& node) {
    const ExprKind kind = node.kind();
    const bool names_value = kind == ExprKind::kConstant || kind == ExprKind::kCall || kind == ExprKind::kTuple ||
                             kind == ExprKind::kTupleGetItem;
    return names_value && node.use_count() > 2;
  }

  ValueRef callee(const Expr& atom, const Expr& callee) {
    const auto made = value(Kind::kCallee, atom);
    made->callee = callee;
    return made;
  }

  ValueRef global(const Expr& name) {
    const Function function = module_.find(as<GlobalVarNode>(name)->name());
    if (!function) return unknown(name);
    if (is_closed(*function)) return callee(name, name);
    const auto made = value(Kind::kClosure, name);
    made->function = function;
    return made;
  }

  // Asks for the next operand of the innermost node, or finishes it.
  void advance() {
    Frame& frame = frames_.back();
    const ExprNode& node = *frame.node;
    const size_t at = frame.values.size();
    switch (node.kind()) {
      case ExprKind::kTuple: {
        const auto& fields = static_cast<const TupleNode&>(node).fields();
        if (at < fields.size()) return ask(fields[at]);
        break;
      }
      case ExprKind::kTupleGetItem:
        if (at == 0) return ask(static_cast<const TupleGetItemNode&>(node).tuple());
        break;
      case ExprKind::kCall: {
        const auto& call = static_cast<const CallNode&>(node);
        if (at == 0) return ask(call.callee());
        if (at <= call.args().size()) return ask(call.args()[at - 1]);
        break;
      }
      case ExprKind::kLet: {
        const auto& let = static_cast<const LetNode&>(node);
        if (const auto function = as_ref<FunctionNode>(let.value()))
          return open_function(function, let.var().get());
        return ask(let.value());
      }
      case ExprKind::kIf:
        return ask(static_cast<const IfNode&>(node).condition());
      case ExprKind::kMatch:
        return ask(static_cast<const MatchNode&>(node).data());
      case ExprKind::kRefCreate:
        if (at == 0) return ask(static_cast<const RefCreateNode&>(node).value());
        break;
      case ExprKind::kRefRead:
        if (at == 0) return ask(static_cast<const RefReadNode&>(node).ref());
        break;
      case ExprKind::kRefWrite: {
        const auto& write = static_cast<const RefWriteNode&>(node);
        if (at < 2) return ask(at == 0 ? write.ref() : write.value());
        break;
      }
      default:
        break;
    }
    const Frame done = std::move(frames_.back());
    frames_.pop_back();
    finish(*done.node, done.values);
  }
  void ask(const Expr& node) { next_ = node; }

  void receive() {
    ValueRef given = std::move(value_);
    Frame& frame = frames_.back();
    if (frame.step == Step::kReturn) {
      fuel_.leave(as<FunctionNode>(frame.node));
      envs_.pop_back();
      frames_.pop_back();
      value_ = std::move(given);
      return;
    }
    if (frame.step == Step::kEmit) return emitted(given);
    if (frame.step == Step::kKeep) {
      set(frame.node.get(), given);
      frames_.pop_back();
      value_ = std::move(given);
      return;
    }
    switch (frame.node->kind()) {
      case ExprKind::kLet: {
        const Expr let = frame.node;
        frames_.pop_back();
        set(as<LetNode>(let)->var().get(), std::move(given));
        next_ = as<LetNode>(let)->body();
        return;
      }
      case ExprKind::kIf:
        return branch(std::move(given));
      case ExprKind::kMatch:
        return clause(std::move(given));
      default:
        break;
    }
    frame.values.push_back(std::move(given));
    advance();
  }

  void set(const ExprNode* var, ValueRef value) {
    const auto [at, fresh] = envs_.back().values.insert(var, value);
    if (!fresh) *at = std::move(value);
  }

  void finish(const ExprNode& node, const std::vector<ValueRef>& values) {
    const NodeInfo info = node.with_type({});
    switch (node.kind()) {
      case ExprKind::kTuple: {
        const auto made = value(Kind::kTuple, bind(make_tuple(atoms(values, 0), info)));
        made->fields = values;
        value_ = made;
        return;
      }
      case ExprKind::kTupleGetItem: {
        const int index = static_cast<const TupleGetItemNode&>(node).index();
        if (values[0]->kind == Kind::kTuple)
          value_ = values[0]->fields.at(static_cast<size_t>(index));
        else
          value_ = unknown(bind(make_tuple_get_item(values[0]->atom, index, info)));
        return;
      }
      case ExprKind::kRefCreate: {
        const auto made = value(Kind::kCell, bind(make_ref_create(values[0]->atom, info)));
        made->cell = cells_++;
        store_.write(made->cell, values[0]);
        value_ = made;
        return;
      }
      case ExprKind::kRefRead: {
        if (values[0]->kind == Kind::kCell) value_ = store_.read(values[0]->cell);
        if (!value_) value_ = unknown(bind(make_ref_read(values[0]->atom, info)));
        return;
      }
      case ExprKind::kRefWrite:
        if (values[0]->kind == Kind::kCell)
          store_.write(values[0]->cell, values[1]);
        else
          store_.forget();
        value_ = value(Kind::kTuple, bind(make_ref_write(values[0]->atom, values[1]->atom, info)));
        return;
      case ExprKind::kCall:
        return call(static_cast<const CallNode&>(node), values);
      default:
        break;
    }
    BATON_CHECK(false, "other nodes do not wait for all of their operands");
  }

  static std::vector<Expr> atoms(const std::vector<ValueRef>& values, size_t first) {
    std::vector<Expr> result;
    for (size_t i = first; i < values.size(); ++i) result.push_back(values[i]->atom);
    return result;
  }

  // ---- calls

  void call(const CallNode& call, const std::vector<ValueRef>& values) {
    const ValueRef& callee = values[0];
    if (callee->kind == Kind::kClosure) {
      const std::vector<ValueRef> args(values.begin() + 1, values.end());
      if (args.size() == callee->function->params().size() && fuel_.enter(callee->function.get(), args))
        return enter(callee, args, &call);
      value_ = unknown(written(call, values));
      return;
    }
    if (callee->kind != Kind::kCallee) {
      store_.forget();
      value_ = unknown(written(call, values));
      return;
    }
    if (callee->callee->kind() == ExprKind::kConstructor) {
      const auto made = value(Kind::kData, written(call, values));
      made->callee = callee->callee;
      made->fields.assign(values.begin() + 1, values.end());
      value_ = made;
      return;
    }
    if (callee->callee->kind() == ExprKind::kOp) value_ = computed(call, *as<OpNode>(callee->callee), values);
    if (!value_) value_ = unknown(written(call, values));
  }

  Expr written(const CallNode& call, const std::vector<ValueRef>& values) {
    const ValueRef& callee = values[0];
    return bind(make_call(callee->kind == Kind::kCallee ? callee->callee : callee->atom, atoms(values, 1),
                          call.attrs(), call.with_type({})));
  }

  void enter(const ValueRef& closure, const std::vector<ValueRef>& args, const CallNode* call) {
    const Function& function = closure->function;
    Env env;
    env.type_vars = closure->type_vars;
    env.types = closure->types;
    if (call) {
      for (size_t i = 0; i < args.size(); ++i) {
        const Var& param = function->params()[i];
        match_types(declared_type(*param),
                    here(call->args()[i]->checked_type()), function->type_params(), env.type_vars, env.types);
      }
      match_types(function->ret_type(), here(call->checked_type()), function->type_params(), env.type_vars,
                  env.types);
    }
    for (const auto& [var, known] : closure->captured) env.values.insert(var, known);
    for (size_t i = 0; i < args.size(); ++i) env.values.insert(function->params()[i].get(), args[i]);
    if (closure->self) env.values.insert(closure->self, closure);
    envs_.push_back(std::move(env));
    frames_.push_back({Step::kReturn, Expr(function), {}, {}});
    next_ = function->body();
  }

  // The value of an operator's call when all arguments are known, else null.
  ValueRef computed(const CallNode& call, const OpNode& op, const std::vector<ValueRef>& values) {
    if (op.def().stateful || op.def().non_computational) return {};
    OriginSet origins = call.origins();
    std::vector<Expr> args;
    for (size_t i = 1; i < values.size(); ++i) {
      Expr arg = reified(*values[i], origins);
      if (!arg) return {};
      args.push_back(std::move(arg));
    }
    std::vector<NDArray> results;
    Type type;
    try {
      const Expr alone =
          infer_type(Expr(make_call(call.callee(), std::move(args), call.attrs(), call.with_type({}))));
      type = alone->checked_type();
      results = evaluator_.evaluate(*as<CallNode>(alone));
    } catch (const NotSupported&) {
      return {};  // it will be computed at run time
    }
    const NodeInfo info(origins, call.span());
    if (!as_type<TupleTypeNode>(type)) return tensor(make_constant(std::move(results.at(0)), info));
    std::vector<ValueRef> fields;
    for (NDArray& array : results) fields.push_back(tensor(make_constant(std::move(array), info)));
    const auto made =
        value(Kind::kTuple, bind(make_tuple(atoms(fields, 0), NodeInfo(OriginSet::none(), call.span()))));
    made->fields = std::move(fields);
    return made;
  }

  static Expr reified(const Value& value, OriginSet& origins) {
    if (value.kind == Kind::kTensor) {
      origins = origins.merge(value.origins);
      return Expr(make_constant(value.tensor, bare()));
    }
    if (value.kind != Kind::kTuple || value.fields.empty()) return {};
    std::vector<Expr> fields;
    for (const ValueRef& field : value.fields) {
      Expr one = reified(*field, origins);
      if (!one) return {};
      fields.push_back(std::move(one));
    }
    std::vector<Type> types;
    for (const Expr& field : fields) types.push_back(field->checked_type());
    return make_tuple(std::move(fields), NodeInfo(OriginSet::none(), {}, tuple_type(std::move(types))));
  }

  // ---- functions

  // A function is written down as it is for unknown arguments, and known for calls that know more.
  void open_function(const Function& function, const VarNode* self) {
    const auto closure = make_ref<Value>();
    const Var name = self ? copy(Var(self)) : fresh();
    closure->atom = Expr(name);
    closure->time = time_++;
    if (is_closed(*function)) {
      closure->kind = Kind::kCallee;
      closure->callee = Expr(function);
    } else {
      closure->kind = Kind::kClosure;
      closure->function = function;
      closure->self = self;
      closure->type_vars = envs_.back().type_vars;
      closure->types = envs_.back().types;
      for (const Var& var : captured_by(function))
        if (const ValueRef* known = envs_.back().values.find(var.get()); known && var.get() != self)
          closure->captured.emplace_back(var.get(), *known);
    }
    emit(closure, name);
  }

  const std::vector<Var>& captured_by(const Function& function) {
    const auto [at, fresh] = free_vars_.insert(function.get(), {});
    if (fresh) *at = free_vars(Expr(function));
    return *at;
  }

  void emit(const ValueRef& closure, const Var& name) {
    const Function function =
        closure->kind == Kind::kClosure ? closure->function : as_ref<FunctionNode>(closure->callee);
    auto more = std::make_unique<More>();
    more->self = closure;
    more->name = name;
    more->type_scope = type_scope_.size();
    for (const TypeVar& var : function->type_params()) type_scope_.push_back(var);
    std::vector<ValueRef> args;
    for (const Var& param : function->params()) {
      more->params.push_back(copy(param));
      args.push_back(unknown(Expr(more->params.back())));
    }
    more->store = store_.open();
    store_.forget();
    lists_.emplace_back();
    frames_.push_back({Step::kEmit, Expr(function), {}, std::move(more)});
    if (closure->kind == Kind::kCallee) {
      value_ = unknown(bind(make_call(Expr(function), atoms(args, 0), {}, NodeInfo(function->origins()))));
    } else if (fuel_.enter(function.get(), args)) {
      enter(closure, args, nullptr);
    } else {
      // It is being written further out already, under another name: nothing more is known here.
      value_ = unknown(bind(make_call(renamed(*function), atoms(args, 0), {}, bare())));
    }
  }

  // `function` with what is known of its variables.
  Expr renamed(const FunctionNode& function) {
    std::unordered_map<const ExprNode*, Expr> values;
    for (const Var& var : captured_by(Function(&function)))
      if (const ValueRef* known = envs_.back().values.find(var.get()))
        values.emplace(var.get(), (*known)->atom);
    for (const Var& var : bound_vars(Expr(&function))) values.emplace(var.get(), Expr(copy(var)));
    return substitute(Expr(&function), values);
  }

  void emitted(const ValueRef& result) {
    const Frame frame = std::move(frames_.back());
    frames_.pop_back();
    const auto& function = *as<FunctionNode>(frame.node);
    More& more = *frame.more;
    Expr body = close_list(result->atom);
    store_.close(more.store);
    const Function made = make_function(more.params, std::move(body), here(function.ret_type()),
                                        function.attrs(), function.with_type({}), function.type_params());
    type_scope_.resize(more.type_scope);
    if (!more.name) {
      emitted_ = made;
      return;
    }
    lists_.back().push_back({more.name, Expr(made)});
    const auto closure = make_ref<Value>();
    closure->kind = more.self->kind;
    closure->atom = more.self->atom;
    closure->time = time_++;
    closure->callee = more.self->callee;
    closure->function = more.self->function;
    closure->self = more.self->self;
    closure->captured = more.self->captured;
    closure->type_vars = more.self->type_vars;
    closure->types = more.self->types;
    value_ = closure;
  }

  // ---- branches

  void open_branch(More& more, const Expr& body) {
    more.store = store_.open();
    lists_.emplace_back();
    next_ = body;
  }
  Expr close_branch(More& more, const ValueRef& result) {
    store_.close(more.store);
    return close_list(result->atom);
  }

  void branch(ValueRef given) {
    Frame& frame = frames_.back();
    const auto& node = *as<IfNode>(frame.node);
    if (frame.more) {
      if (!frame.more->then) {
        frame.more->then = close_branch(*frame.more, given);
        return open_branch(*frame.more, node.otherwise());
      }
      Expr otherwise = close_branch(*frame.more, given);
      store_.forget();
      Expr made = make_if(frame.values[0]->atom, frame.more->then, std::move(otherwise), node.with_type({}));
      frames_.pop_back();
      value_ = unknown(bind(std::move(made)));
      return;
    }
    if (given->kind == Kind::kTensor && given->tensor.size() == 1 && given->tensor.dtype().bits <= 8) {
      const bool taken = *static_cast<const uint8_t*>(given->tensor.data()) != 0;
      const Expr kept = taken ? node.then() : node.otherwise();
      retire_all(taken ? node.otherwise() : node.then(), "the branch is never taken: its condition is known");
      frames_.pop_back();
      next_ = kept;
      return;
    }
    frame.values.push_back(std::move(given));
    frame.more = std::make_unique<More>();
    open_branch(*frame.more, node.then());
  }

  void clause(ValueRef given) {
    Frame& frame = frames_.back();
    const auto& node = *as<MatchNode>(frame.node);
    if (!frame.more) {
      for (const Clause& clause : node.clauses()) {
        std::vector<std::pair<Var, ValueRef>> bound;
        const Fit fit = fits(clause.pattern, given, bound);
        if (fit == Fit::kNo) continue;
        if (fit == Fit::kUnknown) break;
        for (auto& [var, known] : bound) set(var.get(), std::move(known));
        for (const Clause& other : node.clauses())
          if (&other != &clause) retire_all(other.body, "the clause is never taken: the value is known");
        const Expr body = clause.body;
        frames_.pop_back();
        next_ = body;
        return;
      }
      frame.values.push_back(std::move(given));
      frame.more = std::make_unique<More>();
    } else {
      frame.more->clauses.back().body = close_branch(*frame.more, given);
    }
    auto& made = frame.more->clauses;
    if (made.size() < node.clauses().size()) {
      const Clause& clause = node.clauses()[made.size()];
      made.push_back({rewrite_pattern(clause.pattern,
                                      [&](const Var& var) {
                                        const Var renamed = copy(var);
                                        set(var.get(), unknown(Expr(renamed)));
                                        return renamed;
                                      }),
                      {}});
      return open_branch(*frame.more, clause.body);
    }
    store_.forget();
    Expr match = make_match(frame.values[0]->atom, std::move(made), node.complete(), node.with_type({}));
    frames_.pop_back();
    value_ = unknown(bind(std::move(match)));
  }

  const IRModuleNode& module_;
  baton::Evaluator& evaluator_;
  uint64_t& names_;
  bool graphs_;
  std::map<std::string, GlobalVar> globals_;
  uint64_t time_ = 0, cells_ = 0;
  std::vector<Frame> frames_;
  std::vector<Env> envs_;
  std::vector<std::vector<Binding>> lists_;
  Store store_;
  Fuel fuel_;
  std::vector<TypeVar> type_scope_;  // declared by the functions that are being written
  PointerMap<std::vector<Var>> free_vars_;
  Expr next_;
  ValueRef value_;
  Function emitted_;
};

}  // namespace
}  // namespace partial

Pass partial_evaluate() {
  return module_pass(
      {1, "PartialEval", {}},
      [](IRModule module, const PassContext& context) {
        // What is used twice is to be computed once: every value has a name then. In dataflow there is nothing but what
        // is evaluated anyhow, in the same order.
        bool shared = false, dataflow = true;
        for (const auto& [name, function] : module->functions()) {
          const auto found = features(function->body());
          shared |= found.contains(Feature::kGraph);
          dataflow &= is_closed(*function) || partial::is_dataflow(found);
        }
        if (shared && !dataflow) module = to_normal_form(std::move(module), NormalForm::kAll);
        module = infer_types(std::move(module));
        const IRModule before = module->copy();
        uint64_t names = 0;
        partial::Machine machine(*before, evaluator_of(context), names, shared && dataflow);
        for (const auto& [name, function] : before->functions()) machine.know(name, module->global_var(name));
        for (const auto& [name, function] : before->functions())
          if (!is_closed(*function)) module->set(name, machine.run(name, function));
        return module;
      },
      /*may_retire=*/true);
}

}  // namespace baton
