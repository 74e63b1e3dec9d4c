#include "baton/transform/functional/partial_evaluator.h"

#include <algorithm>

#include "baton/ir/functions.h"
#include "baton/ir/op.h"
#include "baton/ir/variables.h"
#include "baton/ir/visit.h"
#include "baton/support/error.h"
#include "baton/types/infer_type.h"
#include "baton/types/match_types.h"

namespace baton::partial {

Function PartialEvaluator::run(const std::string& name, const Function& function) {
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

// ---- Values

Ref<Value> PartialEvaluator::value(Kind kind, Expr atom) {
  auto made = make_ref<Value>();
  made->kind = kind;
  made->atom = std::move(atom);
  made->time = time_++;
  return made;
}

Expr PartialEvaluator::bind(Expr value) {
  lists_.back().push_back({fresh(), std::move(value)});
  return Expr(lists_.back().back().var);
}

Expr PartialEvaluator::close_list(Expr result) {
  auto list = std::move(lists_.back());
  lists_.pop_back();
  for (auto binding = list.rbegin(); binding != list.rend(); ++binding)
    result = make_let(binding->var, binding->value, result, bare());
  return result;
}

ValueRef PartialEvaluator::tensor(const Constant& constant) {
  const auto made = value(Kind::kTensor, bind(Expr(constant)));
  made->tensor = constant->value();
  made->origins = constant->origins();
  return made;
}

Type PartialEvaluator::here(const Type& type) const {
  if (!type) return type;
  const Type seen = substitute_types(type, envs_.back().type_vars, envs_.back().types);
  for (const TypeVar& var : free_type_vars(seen))
    if (std::find(type_scope_.begin(), type_scope_.end(), var) == type_scope_.end()) return {};
  return seen;
}

Var PartialEvaluator::copy(const Var& var) const {
  return make_var(var->name(), here(declared_type(*var)), NodeInfo(var->origins(), var->span()));
}

// ---- Evaluation

void PartialEvaluator::evaluate() {
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

bool PartialEvaluator::is_shared(const ExprNode& node) {
  const ExprKind kind = node.kind();
  const bool names_value = kind == ExprKind::kConstant || kind == ExprKind::kCall ||
                           kind == ExprKind::kTuple || kind == ExprKind::kTupleGetItem;
  return names_value && node.use_count() > 2;
}

ValueRef PartialEvaluator::callee(const Expr& atom, const Expr& callee) {
  const auto made = value(Kind::kCallee, atom);
  made->callee = callee;
  return made;
}

ValueRef PartialEvaluator::global(const Expr& name) {
  const Function function = module_.find(as<GlobalVarNode>(name)->name());
  if (!function) return unknown(name);
  if (is_closed(*function)) return callee(name, name);
  const auto made = value(Kind::kClosure, name);
  made->function = function;
  return made;
}

void PartialEvaluator::advance() {
  Frame& frame = frames_.back();
  const ExprNode& node = *frame.node;
  const size_t at = frame.values.size();
  if (const auto* let = as<LetNode>(&node)) {
    if (const auto function = as_ref<FunctionNode>(let->value()))
      return open_function(function, let->var().get());
    return ask(let->value());
  }
  const Expr* next = child(node, at);
  if (next && node.kind() != ExprKind::kFunction) return ask(*next);
  const Frame done = std::move(frames_.back());
  frames_.pop_back();
  finish(*done.node, done.values);
}

void PartialEvaluator::receive() {
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

void PartialEvaluator::set(const ExprNode* var, ValueRef value) {
  const auto [at, fresh] = envs_.back().values.insert(var, value);
  if (!fresh) *at = std::move(value);
}

void PartialEvaluator::finish(const ExprNode& node, const std::vector<ValueRef>& values) {
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

std::vector<Expr> PartialEvaluator::atoms(const std::vector<ValueRef>& values, size_t first) {
  std::vector<Expr> result;
  for (size_t i = first; i < values.size(); ++i) result.push_back(values[i]->atom);
  return result;
}

// ---- Calls

void PartialEvaluator::call(const CallNode& call, const std::vector<ValueRef>& values) {
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

Expr PartialEvaluator::written(const CallNode& call, const std::vector<ValueRef>& values) {
  const ValueRef& callee = values[0];
  return bind(make_call(callee->kind == Kind::kCallee ? callee->callee : callee->atom, atoms(values, 1),
                        call.attrs(), call.with_type({})));
}

void PartialEvaluator::enter(const ValueRef& closure, const std::vector<ValueRef>& args,
                             const CallNode* call) {
  const Function& function = closure->function;
  Env env;
  env.type_vars = closure->type_vars;
  env.types = closure->types;
  if (call) {
    for (size_t i = 0; i < args.size(); ++i) {
      const Var& param = function->params()[i];
      match_types(declared_type(*param), here(call->args()[i]->checked_type()), function->type_params(),
                  env.type_vars, env.types);
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

ValueRef PartialEvaluator::computed(const CallNode& call, const OpNode& op,
                                    const std::vector<ValueRef>& values) {
  if (op.def().stateful || op.def().non_computational) return {};
  OriginSet origins = call.origins();
  std::vector<Expr> args;
  for (size_t i = 1; i < values.size(); ++i) {
    Expr arg = reified(*values[i], origins);
    if (!arg) return {};
    args.push_back(std::move(arg));
  }
  const Expr alone =
      infer_type(Expr(make_call(call.callee(), std::move(args), call.attrs(), call.with_type({}))));
  const Type type = alone->checked_type();
  std::optional<std::vector<NDArray>> results = value_if_known(*as<CallNode>(alone), context_);
  if (!results) return {};  // computed at run time
  const NodeInfo info(origins, call.span());
  if (!as_type<TupleTypeNode>(type)) return tensor(make_constant(std::move(results->at(0)), info));
  std::vector<ValueRef> fields;
  for (NDArray& array : *results) fields.push_back(tensor(make_constant(std::move(array), info)));
  const auto made =
      value(Kind::kTuple, bind(make_tuple(atoms(fields, 0), NodeInfo(OriginSet::none(), call.span()))));
  made->fields = std::move(fields);
  return made;
}

Expr PartialEvaluator::reified(const Value& value, OriginSet& origins) {
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

}  // namespace baton::partial
