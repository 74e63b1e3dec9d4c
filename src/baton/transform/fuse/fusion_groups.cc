#include "baton/transform/fuse/fusion_groups.h"

#include <algorithm>

#include "baton/ir/functions.h"
#include "baton/ir/visit.h"

namespace baton {

namespace {

Fuse stronger(Fuse a, Fuse b) { return std::max(a, b); }

bool is_simple_scalar(const ConstantNode& constant) {
  const DType dtype = constant.value().dtype();
  return constant.is_scalar() && dtype.lanes == 1 &&
         (((dtype.is_int() || dtype.is_float()) && (dtype.bits == 32 || dtype.bits == 64)) ||
          dtype == DType::bool_());
}

bool is_dynamic(const Type& type) {
  if (const auto* tensor = as_type<TensorTypeNode>(type)) return !tensor->is_static();
  if (const auto* tuple = as_type<TupleTypeNode>(type))
    return std::any_of(tuple->fields().begin(), tuple->fields().end(), is_dynamic);
  return false;
}

bool is_tensor(const Expr& expr) { return as_type<TensorTypeNode>(expr->checked_type()) != nullptr; }

bool same_shape(const Type& a, const Type& b) {
  const auto *x = as_type<TensorTypeNode>(a), *y = as_type<TensorTypeNode>(b);
  return x && y && x->shape() == y->shape();
}

}  // namespace

const Type& type_for_fusion(const Expr& expr) {
  if (!expr->checked_type())
    throw Error("FuseOps needs types, and there is an expression without one: run InferType before it");
  return expr->checked_type();
}

FusionGroups::FusionGroups(const Function& function, const FusionOptions& options) : options_(options) {
  add_nodes(function);
  for (uint32_t node = 0; node < nodes_.size(); ++node) add_edges(node);
  marks_.assign(nodes_.size(), 0);
  if (options_.level == 0) return;
  build_tree();
  for (int phase = 0; phase < 3; ++phase) run_phase(phase);
}

// ---- The graph: operands, users and fusion patterns.

void FusionGroups::add_nodes(const Function& function) {
  const auto enter = [](const Expr& node) {
    const auto* inner = as<FunctionNode>(node);
    return !inner || !is_closed(*inner);
  };
  post_order(
      Expr(function),
      [&](const Expr& expr) {
        if (expr->kind() == ExprKind::kOp) return;
        const auto at = static_cast<uint32_t>(nodes_.size());
        index_.insert(expr.get(), at);
        nodes_.emplace_back();
        nodes_.back().expr = expr;
        nodes_.back().leader = at;
      },
      enter);
}

void FusionGroups::use(const Expr& value, uint32_t user, Fuse pattern) {
  const uint32_t* at = index_.find(value.get());
  if (!at) return;  // an operator used as an argument
  Node& node = nodes_[*at];
  edges_.push_back({user, node.first_edge, pattern});
  node.first_edge = static_cast<uint32_t>(edges_.size() - 1);
}

void FusionGroups::escape(const Expr& value) {
  if (const uint32_t* at = index_.find(value.get())) nodes_[*at].escapes = true;
}

void FusionGroups::add_edges(uint32_t user) {
  Node& node = nodes_[user];
  const Expr expr = node.expr;
  switch (expr->kind()) {
    case ExprKind::kVar:
    case ExprKind::kGlobalVar:
    case ExprKind::kConstructor:
    case ExprKind::kOp:
      break;
    case ExprKind::kConstant:
      if (is_simple_scalar(static_cast<const ConstantNode&>(*expr))) node.pattern = Fuse::kElementwise;
      break;
    case ExprKind::kTuple:
      node.pattern = Fuse::kTuple;
      for (const Expr& field : static_cast<const TupleNode&>(*expr).fields()) {
        type_for_fusion(field);
        if (is_tensor(field))
          use(field, user, Fuse::kInjective);
        else
          escape(field);
      }
      break;
    case ExprKind::kTupleGetItem: {
      // Operands and results of a kernel are tensors and flat tuples of them.
      const Expr& tuple = static_cast<const TupleGetItemNode&>(*expr).tuple();
      const auto* type = as_type<TupleTypeNode>(type_for_fusion(tuple));
      if (!type) throw Error("an item is taken of what is no tuple: " + type_text(type_for_fusion(tuple)));
      if (std::all_of(type->fields().begin(), type->fields().end(),
                      [](const Type& field) { return as_type<TensorTypeNode>(field) != nullptr; })) {
        node.pattern = Fuse::kInjective;
        use(tuple, user, Fuse::kInjective);
      } else {
        escape(tuple);
      }
      break;
    }
    case ExprKind::kCall: {
      const auto& call = static_cast<const CallNode&>(*expr);
      const OpDef* op = call.op();
      if (!op) {
        for_each_child(call, [&](const Expr& child) { use(child, user, Fuse::kOpaque); });
        escape(call.callee());
        break;
      }
      node.pattern = op->data_dependent && is_dynamic(type_for_fusion(expr)) ? Fuse::kOpaque : op->fuse;
      for (const Expr& arg : call.args()) {
        const bool elementwise =
            node.pattern == Fuse::kBroadcast && same_shape(type_for_fusion(expr), type_for_fusion(arg));
        use(arg, user, elementwise ? Fuse::kElementwise : node.pattern);
      }
      break;
    }
    case ExprKind::kFunction: {
      const auto& function = static_cast<const FunctionNode&>(*expr);
      for (const Var& param : function.params()) escape(Expr(param));
      escape(function.body());
      break;
    }
    case ExprKind::kLet:
    case ExprKind::kIf:
    case ExprKind::kMatch:
    case ExprKind::kRefCreate:
    case ExprKind::kRefRead:
    case ExprKind::kRefWrite:
      for_each_child(*expr, [&](const Expr& child) { escape(child); });
      break;
  }
  node.group_pattern = node.pattern;
  node.has_anchor = node.pattern == Fuse::kOutFusable;
}

// ---- The post-dominator tree: a node's parent is its immediate post-dominator.

void FusionGroups::build_tree() {
  for (uint32_t at = static_cast<uint32_t>(nodes_.size()); at-- > 0;) {
    Node& node = nodes_[at];
    if (!node.escapes && node.first_edge != kNone) {
      uint32_t parent = edges_[node.first_edge].user;
      Fuse pattern = edges_[node.first_edge].pattern;
      for (uint32_t edge = edges_[node.first_edge].next; edge != kNone && parent != kNone;
           edge = edges_[edge].next) {
        pattern = stronger(pattern, edges_[edge].pattern);
        parent = common_ancestor(parent, edges_[edge].user, pattern);
      }
      node.parent = parent;
      node.to_parent = pattern;
    }
    if (node.parent == kNone) continue;
    const Node& parent = nodes_[node.parent];
    node.depth = parent.depth + 1;
    // Jumps as in a skew-binary list: two equal jumps in a row are joined into one.
    const uint32_t far = parent.jump;
    if (far != kNone && nodes_[far].jump != kNone &&
        parent.depth - nodes_[far].depth == nodes_[far].depth - nodes_[nodes_[far].jump].depth) {
      node.jump = nodes_[far].jump;
      node.to_jump = stronger(node.to_parent, stronger(parent.to_jump, nodes_[far].to_jump));
    } else {
      node.jump = node.parent;
      node.to_jump = node.to_parent;
    }
  }
}

// The lowest common ancestor, or kNone; `pattern` is raised to the strongest pattern on both paths to it.
uint32_t FusionGroups::common_ancestor(uint32_t a, uint32_t b, Fuse& pattern) const {
  const auto step = [&](uint32_t& at) {
    pattern = stronger(pattern, nodes_[at].to_parent);
    at = nodes_[at].parent;
  };
  const auto jump = [&](uint32_t& at) {
    pattern = stronger(pattern, nodes_[at].to_jump);
    at = nodes_[at].jump;
  };
  if (nodes_[a].depth < nodes_[b].depth) std::swap(a, b);
  while (nodes_[a].depth > nodes_[b].depth) {
    if (nodes_[nodes_[a].jump].depth >= nodes_[b].depth)
      jump(a);
    else
      step(a);
  }
  while (a != b) {
    if (nodes_[a].depth == 0) return kNone;
    // Nodes of one depth have jumps of one length.
    if (nodes_[a].jump != nodes_[b].jump) {
      jump(a);
      jump(b);
    } else {
      step(a);
      step(b);
    }
  }
  return a;
}

// ---- Groups.

uint32_t FusionGroups::root(uint32_t node) const {
  uint32_t top = node;
  while (nodes_[top].leader != top) top = nodes_[top].leader;
  while (nodes_[node].leader != top) {
    const uint32_t next = nodes_[node].leader;
    nodes_[node].leader = top;
    node = next;
  }
  return top;
}

bool FusionGroups::mark(uint32_t node) {
  if (marks_[node] == mark_) return false;
  marks_[node] = mark_;
  return true;
}

// The number of operators in the sink's group and on the paths from `node` to it; counting stops beyond
// max_depth.
size_t FusionGroups::size_with(uint32_t node, uint32_t sink) {
  size_t size = nodes_[root(sink)].size;
  ++mark_;
  mark(node);
  todo_ = {node};
  while (!todo_.empty() && size <= options_.max_depth) {
    const uint32_t at = todo_.back();
    todo_.pop_back();
    size += nodes_[at].size;
    for (uint32_t edge = nodes_[at].first_edge; edge != kNone; edge = edges_[edge].next) {
      const uint32_t user = edges_[edge].user;
      if (user != sink && mark(user)) todo_.push_back(user);
    }
  }
  return size;
}

// Whether allowed(pattern of the group, is_sink) holds for every node on the paths from `node` (exclusive) to
// `sink`.
template <class Allowed>
bool FusionGroups::path_allows(uint32_t node, uint32_t sink, Allowed allowed) {
  ++mark_;
  todo_ = {node};
  while (!todo_.empty()) {
    const uint32_t at = todo_.back();
    todo_.pop_back();
    if (at != node && !allowed(nodes_[root(at)].group_pattern, at == sink)) {
      nodes_[node].blocker = at;
      return false;
    }
    if (at == sink) continue;
    for (uint32_t edge = nodes_[at].first_edge; edge != kNone; edge = edges_[edge].next)
      if (mark(edges_[edge].user)) todo_.push_back(edges_[edge].user);
  }
  return true;
}

// Merges `node` and all nodes on the paths to `sink` into the sink's group.
void FusionGroups::merge(uint32_t node, uint32_t sink) {
  ++mark_;
  mark(node);
  todo_ = {node};
  while (!todo_.empty()) {
    const uint32_t at = todo_.back();
    todo_.pop_back();
    const uint32_t from = root(at), to = root(sink);
    if (from != to) {
      if (nodes_[at].joined == kNone) nodes_[at].joined = sink;
      nodes_[to].size += nodes_[from].size;
      nodes_[from].leader = to;
      if (nodes_[from].has_anchor) {
        BATON_CHECK(!nodes_[to].has_anchor, "two convolutions or matrix products in one kernel");
        nodes_[to].has_anchor = true;
        nodes_[to].group_pattern = stronger(nodes_[from].group_pattern, nodes_[to].group_pattern);
      }
    }
    for (uint32_t edge = nodes_[at].first_edge; edge != kNone; edge = edges_[edge].next)
      if (edges_[edge].user != sink && mark(edges_[edge].user)) todo_.push_back(edges_[edge].user);
  }
}

void FusionGroups::run_phase(int phase) {
  for (uint32_t node = 0; node < nodes_.size(); ++node) nodes_[node].why = try_fuse(node, phase);
}

// Three phases: first elementwise users of a convolution, which complete its kernel; then injective operators
// and tuples; then producers of a tuple that became a kernel's intermediate value. A phase that does not
// apply to a node keeps the previous phase's reason.
NotFused FusionGroups::try_fuse(uint32_t at, int phase) {
  const Node& node = nodes_[at];
  if (node.group_pattern == Fuse::kOpaque) return NotFused::kOpaque;
  if (node.escapes) return NotFused::kEscapes;
  if (node.parent == kNone) return NotFused::kNoCommonUser;
  const uint32_t sink = node.parent;
  const Fuse kind = node.group_pattern, link = node.to_parent;
  const bool together = root(at) == root(sink);
  if (together && phase < 2) return NotFused::kFused;
  if (size_with(at, sink) > options_.max_depth) return together ? NotFused::kFused : NotFused::kDepth;

  const auto at_most_injective = [](Fuse pattern, bool) { return pattern <= Fuse::kInjective; };
  const auto fuse_if = [&](bool allowed) {
    if (!allowed) return NotFused::kBlocked;
    merge(at, sink);
    return NotFused::kFused;
  };
  if (phase == 2) {
    if (kind > Fuse::kInjective) return node.why;
    const Fuse kernel = nodes_[root(sink)].group_pattern;
    if (nodes_[sink].group_pattern != Fuse::kTuple || kernel == Fuse::kTuple || kernel > Fuse::kInjective)
      return node.why;
    return fuse_if(path_allows(at, sink, at_most_injective));
  }
  if (nodes_[sink].group_pattern == Fuse::kTuple) return NotFused::kTupleUser;
  if (kind == Fuse::kOutFusable) {
    if (phase != 0) return node.why;
    if (link != Fuse::kElementwise) return NotFused::kNotElementwise;
    return fuse_if(path_allows(at, sink, [](Fuse pattern, bool) { return pattern <= Fuse::kBroadcast; }));
  }
  if (kind <= Fuse::kBroadcast) {
    if (link > Fuse::kCommReduce) {
      for (uint32_t edge = node.first_edge; edge != kNone; edge = edges_[edge].next)
        if (edges_[edge].pattern > Fuse::kCommReduce) nodes_[at].blocker = edges_[edge].user;
      return NotFused::kBlocked;
    }
    return fuse_if(path_allows(at, sink, [](Fuse pattern, bool is_sink) {
      return is_sink ? pattern <= Fuse::kOutFusable : pattern <= Fuse::kInjective;
    }));
  }
  if (kind == Fuse::kInjective || kind == Fuse::kTuple) {
    if (phase != 1) return node.why;
    return fuse_if(path_allows(at, sink, at_most_injective));
  }
  return NotFused::kReduction;
}

}  // namespace baton
