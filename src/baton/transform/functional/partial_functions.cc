// The residual part of partial evaluation: functions of unknown arguments, and branches on unknown values.
#include "baton/ir/build.h"
#include "baton/ir/functions.h"
#include "baton/ir/variables.h"
#include "baton/ir/visit.h"
#include "baton/pass/rewriter.h"
#include "baton/transform/functional/partial_evaluator.h"

namespace baton::partial {

// ---- Functions

void PartialEvaluator::open_function(const Function& function, const VarNode* self) {
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

const std::vector<Var>& PartialEvaluator::captured_by(const Function& function) {
  const auto [at, fresh] = free_vars_.insert(function.get(), {});
  if (fresh) *at = free_vars(Expr(function));
  return *at;
}

void PartialEvaluator::emit(const ValueRef& closure, const Var& name) {
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
    // The function is already being emitted in an outer scope, under another name: nothing more is known
    // here.
    value_ = unknown(bind(make_call(renamed(*function), atoms(args, 0), {}, bare())));
  }
}

Expr PartialEvaluator::renamed(const FunctionNode& function) {
  std::unordered_map<const ExprNode*, Expr> values;
  for (const Var& var : captured_by(Function(&function)))
    if (const ValueRef* known = envs_.back().values.find(var.get()))
      values.emplace(var.get(), (*known)->atom);
  for (const Var& var : bound_vars(Expr(&function))) values.emplace(var.get(), Expr(copy(var)));
  return substitute(Expr(&function), values);
}

void PartialEvaluator::emitted(const ValueRef& result) {
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

// ---- Branches

void PartialEvaluator::open_branch(More& more, const Expr& body) {
  more.store = store_.open();
  lists_.emplace_back();
  next_ = body;
}

Expr PartialEvaluator::close_branch(More& more, const ValueRef& result) {
  store_.close(more.store);
  return close_list(result->atom);
}

void PartialEvaluator::branch(ValueRef given) {
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

void PartialEvaluator::clause(ValueRef given) {
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

}  // namespace baton::partial
