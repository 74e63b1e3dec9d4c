// Builds the typed nodes: the last step of type inference.
#include "baton/types/type_inference.h"

namespace baton {

namespace {

bool is_name(const ExprNode& node) {
  return node.kind() == ExprKind::kVar || node.kind() == ExprKind::kGlobalVar ||
         node.kind() == ExprKind::kConstructor;
}

}  // namespace

void TypeInference::build() {
  if (unbuilt_ == 0) return;
  for (NodeId id = 0; id < nodes_.size(); ++id)
    if (nodes_[id] && !built_[id]) build(id);
}

void TypeInference::build(NodeId id) {
  built_[id] = rebuild(node(id), id);
  --unbuilt_;
}

bool TypeInference::build_early(NodeId id) {
  const Type& type = types_[id];
  if (!type || engine_.has_errors()) return false;
  if (type->kind() != TypeKind::kTensor && !is_complete(type)) return false;
  if (!is_name(*nodes_[id]) && !build_children_early(id)) return false;
  build(id);
  return true;
}

// Most nodes were attempted when the walk left them. Not so globals and operators, and a variable's type may
// be resolved later, from the value it is bound to.
bool TypeInference::build_children_early(NodeId id) {
  const auto ready = [&](NodeId at) { return built_[at] || (is_name(*nodes_[at]) && build_early(at)); };
  for (uint32_t at = first_edge_[id]; at < edges_.size(); ++at)
    if (edges_[at] != kTyped && !ready(edges_[at])) return false;
  if (const auto* match = as<MatchNode>(nodes_[id]))
    for (const Clause& clause : match->clauses())
      for (const Var& var : pattern_vars(clause.pattern))
        if (!ready(*ids_.find(var.get()))) return false;
  return true;
}

// A node with one user is moved out: no reference counting, and it is not accessed again.
Expr TypeInference::built(NodeId id, uint32_t index, const Expr& child) {
  const NodeId at = edge(id, index);
  if (at == kTyped) return child;
  if (child->use_count() > 1 || child->kind() == ExprKind::kVar) return built_[at];
  nodes_[at] = nullptr;
  return std::move(built_[at]);
}

// The node with its type over typed children; the same object when it is already typed.
Expr TypeInference::rebuild(const ExprNode& old, NodeId id) {
  Type type = types_[id]->kind() == TypeKind::kTensor ? types_[id] : solver_.settle(types_[id]);
  const bool typed = old.checked_type() && same_type(old.checked_type(), type);
  auto keep = [&] { return Expr(&old); };
  switch (old.kind()) {
    case ExprKind::kVar: {
      const auto& var = static_cast<const VarNode&>(old);
      if (typed) return keep();
      return make_var(var.name(), is_complete(var.annotation()) ? var.annotation() : type,
                      old.with_type(type));
    }
    case ExprKind::kCall: {
      const auto& call = static_cast<const CallNode&>(old);
      Expr callee = built(id, 0, call.callee());
      bool same = typed && callee == call.callee();
      std::vector<Expr> args;
      args.reserve(call.args().size());
      for (uint32_t i = 0; i < call.args().size(); ++i) {
        args.push_back(built(id, i + 1, call.args()[i]));
        same = same && args.back() == call.args()[i];
      }
      if (same) return keep();
      return make_call(std::move(callee), std::move(args), call.attrs(), old.with_type(std::move(type)));
    }
    case ExprKind::kTuple: {
      const auto& tuple = static_cast<const TupleNode&>(old);
      bool same = typed;
      std::vector<Expr> fields;
      for (uint32_t i = 0; i < tuple.fields().size(); ++i) {
        fields.push_back(built(id, i, tuple.fields()[i]));
        same = same && fields.back() == tuple.fields()[i];
      }
      return same ? keep() : make_tuple(std::move(fields), old.with_type(type));
    }
    case ExprKind::kTupleGetItem: {
      const auto& item = static_cast<const TupleGetItemNode&>(old);
      Expr tuple = built(id, 0, item.tuple());
      if (typed && tuple == item.tuple()) return keep();
      return make_tuple_get_item(std::move(tuple), item.index(), old.with_type(type));
    }
    case ExprKind::kFunction: {
      const auto& function = static_cast<const FunctionNode&>(old);
      bool same = typed && function.ret_type();
      std::vector<Var> params;
      for (uint32_t i = 0; i < function.params().size(); ++i) {
        params.push_back(as_ref<VarNode>(built(id, i, Expr(function.params()[i]))));
        same = same && params.back() == function.params()[i];
      }
      Expr body = built(id, static_cast<uint32_t>(params.size()), function.body());
      const Type& result = as_type<FuncTypeNode>(type)->result();
      same = same && body == function.body() && same_type(function.ret_type(), result);
      if (same) return keep();
      return make_function(std::move(params), std::move(body), result, function.attrs(), old.with_type(type),
                           function.type_params());
    }
    case ExprKind::kLet: {
      const auto& let = static_cast<const LetNode&>(old);
      Var var = as_ref<VarNode>(built(id, 0, Expr(let.var())));
      Expr value = built(id, 1, let.value()), body = built(id, 2, let.body());
      if (typed && var == let.var() && value == let.value() && body == let.body()) return keep();
      return make_let(std::move(var), std::move(value), std::move(body), old.with_type(type));
    }
    case ExprKind::kIf: {
      const auto& branch = static_cast<const IfNode&>(old);
      Expr condition = built(id, 0, branch.condition());
      Expr then = built(id, 1, branch.then()), otherwise = built(id, 2, branch.otherwise());
      if (typed && condition == branch.condition() && then == branch.then() &&
          otherwise == branch.otherwise())
        return keep();
      return make_if(std::move(condition), std::move(then), std::move(otherwise), old.with_type(type));
    }
    case ExprKind::kMatch: {
      const auto& match = static_cast<const MatchNode&>(old);
      Expr data = built(id, 0, match.data());
      bool same = typed && data == match.data();
      std::vector<Clause> clauses;
      for (uint32_t i = 0; i < match.clauses().size(); ++i) {
        const Clause& clause = match.clauses()[i];
        clauses.push_back(
            {rewrite_pattern(clause.pattern,
                             [&](const Var& var) { return as_ref<VarNode>(built_[*ids_.find(var.get())]); }),
             built(id, i + 1, clause.body)});
        same = same && clauses.back().pattern == clause.pattern && clauses.back().body == clause.body;
      }
      return same ? keep()
                  : make_match(std::move(data), std::move(clauses), match.complete(), old.with_type(type));
    }
    case ExprKind::kRefCreate: {
      Expr value = built(id, 0, static_cast<const RefCreateNode&>(old).value());
      if (typed && value == static_cast<const RefCreateNode&>(old).value()) return keep();
      return make_ref_create(std::move(value), old.with_type(type));
    }
    case ExprKind::kRefRead: {
      Expr ref = built(id, 0, static_cast<const RefReadNode&>(old).ref());
      if (typed && ref == static_cast<const RefReadNode&>(old).ref()) return keep();
      return make_ref_read(std::move(ref), old.with_type(type));
    }
    case ExprKind::kRefWrite: {
      const auto& write = static_cast<const RefWriteNode&>(old);
      Expr ref = built(id, 0, write.ref()), value = built(id, 1, write.value());
      if (typed && ref == write.ref() && value == write.value()) return keep();
      return make_ref_write(std::move(ref), std::move(value), old.with_type(type));
    }
    case ExprKind::kGlobalVar:
    case ExprKind::kConstant:
    case ExprKind::kConstructor:
    case ExprKind::kOp:
      return keep();
  }
  return keep();
}

}  // namespace baton
