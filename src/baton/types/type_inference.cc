#include "baton/types/type_inference.h"

#include <utility>

#include "baton/ir/visit.h"

namespace baton {

namespace {

const Type& bool_scalar() {
  static const Type type = scalar_type(DType::bool_());
  return type;
}

}  // namespace

// The RelationContext of a call in inference.
class CallRelation final : public RelationContext {
 public:
  CallRelation(TypeInference& inference, const CallNode& call, TypeInference::NodeId id)
      : inference_(inference), call_(call), id_(id) {}

  const std::string& op_name() const override { return call_.op()->name; }
  size_t num_inputs() const override { return call_.args().size(); }
  const Expr& arg(size_t index) const override { return call_.args().at(index); }

  Type input(size_t index) const override {
    const Type& type = inference_.child_type(id_, static_cast<uint32_t>(index) + 1, *call_.args()[index]);
    if (type->kind() == TypeKind::kTensor) return type;
    Type known = inference_.solver_.resolve(type);
    if (known->kind() == TypeKind::kTensor || is_complete(known)) return known;
    // Relations hold raw pointers to the types they read; settled_ keeps those alive.
    inference_.settled_.push_back(inference_.solver_.settle(known));
    return inference_.settled_.back();
  }

  Status assign(size_t index, const Type& type) override {
    const Type seen = inference_.child_type(id_, static_cast<uint32_t>(index) + 1, *call_.args()[index]);
    if (seen == type) return Status::kDone;
    TypeSolver::Mismatch mismatch;
    if (inference_.solver_.unify(seen, type, &mismatch)) return Status::kDone;
    inference_.report_argument(call_, id_, index, seen, type, mismatch.why);
    return Status::kFailed;
  }

  Status assign_result(const Type& type) override {
    const Type before = inference_.types_[id_];
    TypeSolver::Mismatch mismatch;
    if (inference_.set_type(id_, type, &mismatch)) return Status::kDone;
    inference_.report_mismatch(call_, "the result of `" + op_name() + "`", type, before, mismatch.why);
    return Status::kFailed;
  }

  Status fail(const DiagnosticDef& def, const std::vector<std::string>& values, int arg) override {
    inference_.report_call(def, call_, id_, values, arg);
    return Status::kFailed;
  }

 private:
  TypeInference& inference_;
  const CallNode& call_;
  TypeInference::NodeId id_;
};

// ---- Functions and roots

void TypeInference::set_module(const IRModuleNode& module) {
  module_ = &module;
  for (const auto& [name, function] : module.functions()) {
    if (trust_ && function->checked_type()) {
      globals_[name] = function->checked_type();
      continue;
    }
    std::vector<Type> params;
    for (const Var& param : function->params())
      params.push_back(param->annotation() ? param->annotation() : solver_.fresh());
    globals_[name] =
        func_type(std::move(params), function->ret_type() ? function->ret_type() : solver_.fresh(),
                  function->type_params());
  }
}

void TypeInference::add_function(const std::string& name, const Function& function) {
  kept_.push_back(Expr(function));
  ++function_;
  solver_.forget_extents();
  walk(function.get());
  const NodeId* id = ids_.find(function.get());
  if (!id) return;
  TypeSolver::Mismatch mismatch;
  if (!solver_.unify(type_of(*id), globals_[name], &mismatch))
    report_mismatch(*function, "function @" + name, type_of(*id), globals_[name], mismatch.why);
  run_woken();
}

void TypeInference::add_expr(const Expr& expr) {
  kept_.push_back(expr);
  ++function_;
  solver_.forget_extents();
  open_ = true;
  walk(expr.get());
}

void TypeInference::solve() {
  run_woken();
  if (!open_) report_free_variables();
  report_open();
  engine_.raise_errors();
}

Expr TypeInference::typed(const Expr& root) {
  const NodeId* id = ids_.find(root.get());
  if (!id) return root;
  build();
  return built_[*id];
}

// ---- The walk

bool TypeInference::is_leaf(const ExprNode& node) const {
  if (node.kind() == ExprKind::kConstant || node.kind() == ExprKind::kOp) return true;
  if (baton::is_leaf(node.kind())) return false;
  return trust_ && node.checked_type();
}

TypeInference::NodeId TypeInference::number(const ExprNode* node) {
  const auto id = static_cast<NodeId>(nodes_.size());
  nodes_.push_back(node);
  types_.emplace_back();
  built_.emplace_back();
  first_edge_.push_back(static_cast<uint32_t>(edges_.size()));
  ++unbuilt_;
  return id;
}

TypeInference::NodeId TypeInference::number_var(const VarNode& var) {
  const NodeId next = static_cast<NodeId>(nodes_.size());
  const auto [id, fresh] = ids_.insert(&var, next);
  if (!fresh) return *id;
  number(&var);
  first_edge_[next] = 0;
  variables_.push_back(next);
  visit_var(var, next);
  return next;
}

void TypeInference::walk(const ExprNode* root) {
  if (is_leaf(*root)) return;
  SegmentedArray<Frame> stack;
  // The number of a finished node: a leaf is finished at once, others when the walk leaves them. Otherwise
  // kEntered: the node was pushed and is now on top of the stack.
  auto enter = [&](const ExprNode* node) -> NodeId {
    const auto* var = as<VarNode>(node);
    if (var) return number_var(*var);
    const bool is_name = node->kind() == ExprKind::kGlobalVar || node->kind() == ExprKind::kConstructor;
    // A node with a single reference has no other user and needs no table entry.
    const bool shared = is_name || stack.empty() || node->use_count() > 1;
    if (shared) {
      const auto [id, fresh] = ids_.insert(node, kEntered);
      if (!fresh) return *id;
      if (is_name) {
        const NodeId next = *id = number(node);
        const ExprNode& user = stack.empty() ? *node : *stack.back().node;
        const auto* global = as<GlobalVarNode>(node);
        types_[next] = global ? global_type(*global)
                              : constructor_type(static_cast<const ConstructorNode&>(*node), user);
        return next;
      }
      open_entries_.push_back(static_cast<uint32_t>(ids_.size() - 1));
    }
    stack.push_back({node, 0, shared, static_cast<uint32_t>(edge_stack_.size())});
    return kEntered;
  };
  enter(root);
  while (!stack.empty()) {
    bool done = false;
    const ExprNode* next = child(stack.back(), done);
    if (done) {
      const NodeId id = leave(stack.back());
      stack.pop_back();
      if (!stack.empty()) edge_stack_.push_back(id);
      continue;
    }
    if (!next) continue;
    Frame& frame = stack.back();
    ++frame.step;
    if (is_leaf(*next)) {
      if (const auto* op = as<OpNode>(next);
          op && !(frame.node->kind() == ExprKind::kCall && frame.step == 1))
        report_op_value(*op, *frame.node);
      edge_stack_.push_back(kTyped);
      continue;
    }
    const NodeId id = enter(next);
    if (id == kEntered) continue;
    edge_stack_.push_back(id);
    // A variable is bound when visited as a parameter: its uses come later in the walk.
    const auto* function = as<FunctionNode>(frame.node);
    if (function && frame.step <= function->params().size()) bind_var(static_cast<const VarNode&>(*next), id);
    if (frame.node->kind() == ExprKind::kLet && frame.step == 1)
      bind_var(static_cast<const VarNode&>(*next), id);
  }
}

const ExprNode* TypeInference::child(const Frame& frame, bool& done) {
  const uint32_t step = frame.step;
  const Expr* next = nullptr;
  if (const auto* function = as<FunctionNode>(frame.node)) {
    if (step < function->params().size()) return function->params()[step].get();
    next = baton::child(*function, step - function->params().size());
  } else if (const auto* let = as<LetNode>(frame.node)) {
    if (step == 0) return let->var().get();
    if (step == 2) infer_let_value(*let, frame);
    next = baton::child(*let, step - 1);
  } else {
    next = baton::child(*frame.node, step);
    const auto* match = next && step > 0 ? as<MatchNode>(frame.node) : nullptr;
    if (match) enter_clause(*match, match->clauses()[step - 1], frame);
  }
  if (next) return next->get();
  done = true;
  return nullptr;
}

TypeInference::NodeId TypeInference::leave(const Frame& frame) {
  const NodeId id = number(frame.node);
  if (frame.shared) {
    ids_.value(open_entries_.back()) = id;
    open_entries_.pop_back();
  }
  const size_t first_edge = edges_.size(), waiting = pending_.size();
  edges_.insert(edges_.end(), edge_stack_.begin() + frame.edge_base, edge_stack_.end());
  edge_stack_.resize(frame.edge_base);
  infer(*frame.node, id);
  if (solver_.has_woken()) run_woken();
  // A deferred relation is solved again when one of its operands becomes known.
  if (pending_.size() == waiting && build_early(id)) edges_.resize(first_edge);
  return id;
}

void TypeInference::visit_var(const VarNode& var, NodeId id) {
  // A complete annotation is the variable's initial type, but may itself be ill-kinded.
  if (var.annotation() && !check_kinds(var.annotation(), var))
    types_[id] = solver_.error();
  else if (trust_ && var.checked_type())
    types_[id] = var.checked_type();
  else if (var.annotation())
    types_[id] = var.annotation();
}

void TypeInference::bind_var(const VarNode& var, NodeId id) {
  uint32_t& bound_in = first_edge_[id];
  if (bound_in == function_) report_bound_twice(var);
  bound_in = function_;
}

Type TypeInference::global_type(const GlobalVarNode& var) {
  const auto at = globals_.find(var.name());
  if (at != globals_.end()) return at->second;
  if (var.checked_type()) return var.checked_type();  // its user was taken out of the module it belongs to
  report_no_function(var);
  return solver_.error();
}

// ---- Types of single nodes

const Type& TypeInference::type_of(NodeId id) {
  if (!types_[id]) types_[id] = solver_.fresh();
  return types_[id];
}

const Type& TypeInference::child_type(NodeId id, uint32_t index, const ExprNode& child) {
  const NodeId at = edge(id, index);
  if (at != kTyped) return type_of(at);
  return child.checked_type() ? child.checked_type()
                              : solver_.error();  // an operator used as a value: reported in the walk
}

bool TypeInference::set_type(NodeId id, const Type& type, TypeSolver::Mismatch* mismatch) {
  if (types_[id]) return solver_.unify(types_[id], type, mismatch).has_value();
  types_[id] = type;
  return true;
}

void TypeInference::set_error(NodeId id) {
  if (!types_[id]) {
    types_[id] = solver_.error();
    return;
  }
  std::vector<Type> open;
  solver_.holes(types_[id], open);
  for (const Type& hole : open) solver_.unify(hole, solver_.error(), nullptr);
}

void TypeInference::infer(const ExprNode& node, NodeId id) {
  switch (node.kind()) {
    case ExprKind::kCall: {
      const auto& call = static_cast<const CallNode&>(node);
      return call.op() ? infer_op_call(call, id) : infer_call(call, id);
    }
    case ExprKind::kTuple: {
      std::vector<Type> fields;
      uint32_t index = 0;
      for (const Expr& field : static_cast<const TupleNode&>(node).fields())
        fields.push_back(child_type(id, index++, *field));
      types_[id] = tuple_type(std::move(fields));
      return;
    }
    case ExprKind::kTupleGetItem:
      if (!infer_get_item(static_cast<const TupleGetItemNode&>(node), id)) defer(id);
      return;
    case ExprKind::kFunction:
      return infer_function(static_cast<const FunctionNode&>(node), id);
    case ExprKind::kLet:
      types_[id] = child_type(id, 2, *static_cast<const LetNode&>(node).body());
      return;
    case ExprKind::kIf:
      return infer_if(static_cast<const IfNode&>(node), id);
    case ExprKind::kMatch:
      return infer_match(static_cast<const MatchNode&>(node), id);
    case ExprKind::kRefCreate:
    case ExprKind::kRefRead:
    case ExprKind::kRefWrite:
      return infer_reference(node, id);
    case ExprKind::kVar:
    case ExprKind::kGlobalVar:
    case ExprKind::kConstructor:
    case ExprKind::kConstant:
    case ExprKind::kOp:
      return;
  }
}

// The variable gets its value's type before the body is visited.
void TypeInference::infer_let_value(const LetNode& let, const Frame& frame) {
  const NodeId var = edge_stack_[frame.edge_base], value = edge_stack_[frame.edge_base + 1];
  const Type type = value == kTyped ? let.value()->checked_type() : type_of(value);
  if (!type) return set_error(var);  // an operator used as a value: reported in the walk
  TypeSolver::Mismatch mismatch;
  if (!set_type(var, type, &mismatch))
    report_mismatch(*let.value(), "the value of %" + let.var()->name(), type, types_[var], mismatch.why);
}

void TypeInference::infer_if(const IfNode& branch, NodeId id) {
  TypeSolver::Mismatch mismatch;
  const Type condition = child_type(id, 0, *branch.condition());
  if (!solver_.unify(condition, bool_scalar(), &mismatch))
    report_mismatch(*branch.condition(), "the condition of `if`", condition, bool_scalar(), mismatch.why);
  const Type then = child_type(id, 1, *branch.then()), otherwise = child_type(id, 2, *branch.otherwise());
  if (const auto both = solver_.unify(then, otherwise, &mismatch)) {
    types_[id] = *both;
  } else {
    report_mismatch(*branch.otherwise(), "the `else` branch", otherwise, then, mismatch.why);
    set_error(id);
  }
}

void TypeInference::infer_function(const FunctionNode& function, NodeId id) {
  std::vector<Type> params;
  uint32_t index = 0;
  for (const Var& param : function.params()) params.push_back(child_type(id, index++, *param));
  Type result = child_type(id, index, *function.body());
  if (function.ret_type() && check_kinds(function.ret_type(), function)) {
    TypeSolver::Mismatch mismatch;
    const auto both = solver_.unify(result, function.ret_type(), &mismatch);
    if (!both)
      report_mismatch(*function.body(), "the function's body", result, function.ret_type(), mismatch.why);
    result = both ? *both : function.ret_type();
  }
  types_[id] = func_type(std::move(params), std::move(result), function.type_params());
}

void TypeInference::infer_call(const CallNode& call, NodeId id) {
  Type callee = solver_.resolve(child_type(id, 0, *call.callee()));
  if (solver_.is_error(callee)) return set_error(id);
  const auto* func = as_type<FuncTypeNode>(callee);
  if (func && !func->type_params().empty()) {
    callee = solver_.instantiate(*func);
    func = as_type<FuncTypeNode>(callee);
  }
  if (!func && callee->kind() == TypeKind::kIncomplete) {
    std::vector<Type> params;
    for (uint32_t i = 0; i < call.args().size(); ++i)
      params.push_back(child_type(id, i + 1, *call.args()[i]));
    solver_.unify(callee, func_type(std::move(params), type_of(id)), nullptr);
    return;
  }
  if (!func) {
    report_not_callable(call, id, callee);
    return set_error(id);
  }
  const Type result = func->result();
  if (func->params().size() != call.args().size()) {
    report_count(call, id, func->params().size());
  } else {
    for (uint32_t i = 0; i < call.args().size(); ++i) {
      TypeSolver::Mismatch mismatch;
      const Type seen = child_type(id, i + 1, *call.args()[i]);
      if (!solver_.unify(seen, func->params()[i], &mismatch))
        report_argument(call, id, i, seen, func->params()[i], mismatch.why);
    }
  }
  set_type(id, result);
}

bool TypeInference::infer_get_item(const TupleGetItemNode& item, NodeId id) {
  const Type type = solver_.resolve(child_type(id, 0, *item.tuple()));
  if (solver_.is_error(type)) return set_error(id), true;
  if (type->kind() == TypeKind::kIncomplete) return false;
  const auto* tuple = as_type<TupleTypeNode>(type);
  if (!tuple || item.index() < 0 || item.index() >= static_cast<int>(tuple->fields().size())) {
    report_get_item(item, type);
    set_error(id);
    return true;
  }
  TypeSolver::Mismatch mismatch;
  const Type field = tuple->fields()[item.index()];
  if (!set_type(id, field, &mismatch)) report_mismatch(item, "this field", field, types_[id], mismatch.why);
  return true;
}

// ---- Relations

void TypeInference::infer_op_call(const CallNode& call, NodeId id) {
  const OpDef& op = *call.op();
  if (op.num_inputs != OpDef::kVariadic && op.num_inputs != static_cast<int>(call.args().size())) {
    report_count(call, id, op.num_inputs);
    return set_error(id);
  }
  if (!run_relation(call, id)) defer(id);
}

bool TypeInference::has_error(const Type& type) {
  const Type known = solver_.resolve(type);
  if (solver_.is_error(known)) return true;
  const auto* tuple = as_type<TupleTypeNode>(known);
  if (tuple)
    for (const Type& field : tuple->fields())
      if (has_error(field)) return true;
  return false;
}

bool TypeInference::run_relation(const CallNode& call, NodeId id) {
  if (engine_.has_errors())
    for (uint32_t i = 0; i < call.args().size(); ++i)
      if (has_error(child_type(id, i + 1, *call.args()[i]))) return set_error(id), true;
  CallRelation context(*this, call, id);
  switch (call.op()->relation(context, call.attrs())) {
    case RelationContext::Status::kDone:
      return true;
    case RelationContext::Status::kDefer:
      return false;
    case RelationContext::Status::kFailed:
      break;
  }
  BATON_CHECK(engine_.has_errors(), "the relation of " + call.op()->name + " failed and did not say why");
  set_error(id);
  return true;
}

void TypeInference::defer(NodeId id) {
  pending_.push_back(id);
  satisfied_.push_back(false);
  wait_for_children(id, static_cast<TypeSolver::Waiter>(pending_.size() - 1));
}

// Retries the relation when one of the holes in its children's types is bound.
void TypeInference::wait_for_children(NodeId id, TypeSolver::Waiter waiter) {
  std::vector<Type> open;
  const ExprNode& waiting = node(id);
  if (const auto* item = as<TupleGetItemNode>(&waiting)) {
    solver_.holes(child_type(id, 0, *item->tuple()), open);
  } else {
    const auto& call = static_cast<const CallNode&>(waiting);
    for (uint32_t i = 0; i < call.args().size(); ++i)
      solver_.holes(child_type(id, i + 1, *call.args()[i]), open);
  }
  for (const Type& hole : open) solver_.wait(hole, waiter);
}

void TypeInference::run_woken() {
  while (solver_.has_woken()) {
    for (const TypeSolver::Waiter waiter : solver_.take_woken()) {
      if (satisfied_[waiter]) continue;
      const NodeId id = pending_[waiter];
      const ExprNode& woken = node(id);
      const auto* item = as<TupleGetItemNode>(&woken);
      satisfied_[waiter] =
          item ? infer_get_item(*item, id) : run_relation(static_cast<const CallNode&>(woken), id);
      if (!satisfied_[waiter]) wait_for_children(id, waiter);
    }
  }
}

}  // namespace baton
