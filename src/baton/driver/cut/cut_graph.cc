#include "baton/driver/cut/cut_graph.h"

#include <algorithm>
#include <set>

#include "baton/driver/initialize.h"
#include "baton/ir/op.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"
#include "baton/support/error.h"
#include "baton/text/origin_label.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

std::string at(const Span& span) {
  return span ? " at " + std::to_string(span.line) + ":" + std::to_string(span.column) : "";
}

// A branch may have no span of its own; its condition has one. An imported operator has a name instead.
std::string place_of(const Expr& expr) {
  if (expr->span()) return at(expr->span());
  std::string place;
  for (const Origin* origin : expr->origins().origins())
    if (place.empty() && !origin->source_name().empty()) place = " at " + origin->source_name();
  for_each_child(*expr, [&](const Expr& child) {
    if (place.empty() && child->kind() != ExprKind::kVar) place = at(child->span());
  });
  return place;
}

bool is_cell(ExprKind kind) {
  return kind == ExprKind::kRefCreate || kind == ExprKind::kRefRead || kind == ExprKind::kRefWrite;
}

bool is_value(ExprKind kind) {
  return kind == ExprKind::kCall || kind == ExprKind::kIf || kind == ExprKind::kMatch ||
         kind == ExprKind::kTuple || kind == ExprKind::kTupleGetItem;
}

/// The bodies that a node evaluates itself: branches, and functions it calls or defines. Its other children
/// are operands.
std::vector<Expr> inner_parts(const Expr& expr) {
  switch (expr->kind()) {
    case ExprKind::kCall: {
      const Expr& callee = static_cast<const CallNode&>(*expr).callee();
      if (callee->kind() == ExprKind::kFunction || callee->kind() == ExprKind::kLet) return {callee};
      return {};
    }
    case ExprKind::kIf: {
      const auto& branch = static_cast<const IfNode&>(*expr);
      return {branch.then(), branch.otherwise()};
    }
    case ExprKind::kMatch: {
      std::vector<Expr> bodies;
      for (const Clause& clause : static_cast<const MatchNode&>(*expr).clauses())
        bodies.push_back(clause.body);
      return bodies;
    }
    case ExprKind::kFunction:
      return {static_cast<const FunctionNode&>(*expr).body()};
    case ExprKind::kLet: {
      const auto& let = static_cast<const LetNode&>(*expr);
      return {let.value(), let.body()};
    }
    default:
      return {};
  }
}

/// The children that are values of the same body.
std::vector<Expr> value_children(const Expr& expr) {
  switch (expr->kind()) {
    case ExprKind::kFunction:
    case ExprKind::kLet:
      return {};
    case ExprKind::kIf:
      return {static_cast<const IfNode&>(*expr).condition()};
    case ExprKind::kMatch:
      return {static_cast<const MatchNode&>(*expr).data()};
    default:
      break;
  }
  const std::vector<Expr> inner = inner_parts(expr);
  std::vector<Expr> children;
  for_each_child(*expr, [&](const Expr& child) {
    const bool is_name = child->kind() == ExprKind::kOp || child->kind() == ExprKind::kGlobalVar ||
                         child->kind() == ExprKind::kConstructor;
    if (!is_name && (inner.empty() || child != inner[0])) children.push_back(child);
  });
  return children;
}

}  // namespace

CutGraph::CutGraph(IRModule module)
    : module_(std::move(module)), main_(module_->find("main")), calls_(*module_) {
  if (!main_) throw Error("the module has no function main to cut in");
  find_outer();
  order();
}

uint32_t CutGraph::number_of(const ExprNode* expr) const {
  const uint32_t* number = numbers_.find(expr);
  BATON_CHECK(number, "a value outside of main's body");
  return *number;
}

// Finds the values computed outside the branches and functions of main; values shared by several of these are
// computed before them.
void CutGraph::find_outer() {
  for (const Var& param : main_->params()) outer_.insert(param.get());
  std::vector<Expr> todo{main_->body()}, parts;
  while (!todo.empty()) {
    while (!todo.empty()) {
      const Expr expr = std::move(todo.back());
      todo.pop_back();
      if (!outer_.insert(expr.get())) continue;
      for (Expr& child : value_children(expr)) todo.push_back(std::move(child));
      for (Expr& part : inner_parts(expr)) parts.push_back(std::move(part));
    }
    todo = shared_by(parts);
  }
}

/// Non-outer values used by several of the parts.
std::vector<Expr> CutGraph::shared_by(const std::vector<Expr>& parts) const {
  std::vector<Expr> shared;
  PointerMap<const ExprNode*> met_in;
  for (const Expr& part : parts) {
    std::vector<Expr> below{part};
    while (!below.empty()) {
      const Expr expr = std::move(below.back());
      below.pop_back();
      if (outer_.contains(expr.get())) continue;
      const auto [in, fresh] = met_in.insert(expr.get(), part.get());
      if (fresh)
        for_each_child(*expr, [&](const Expr& child) { below.push_back(child); });
      else if (*in != part.get() && is_value(expr->kind()))
        shared.push_back(expr);
    }
  }
  return shared;
}

// Depth-first order, operands before users.
void CutGraph::order() {
  struct Open {
    CutNode node;
    std::vector<Expr> reads;
    size_t next = 0;
  };
  const auto reads_of = [&](const Expr& expr) {
    if (expr->kind() == ExprKind::kTupleGetItem) return std::vector<Expr>{resolve(expr).base};
    std::vector<Expr> reads = value_children(expr);
    PointerSet seen;
    std::vector<Expr> todo = inner_parts(expr);
    while (!todo.empty()) {
      const Expr inner = std::move(todo.back());
      todo.pop_back();
      if (!seen.insert(inner.get())) continue;
      if (outer_.contains(inner.get())) {
        reads.push_back(inner);
        continue;
      }
      if (is_cell(inner->kind()))
        throw NotSupported(
            "a program with references cannot be cut: what they hold depends on all that ran before");
      for_each_child(*inner, [&](const Expr& child) { todo.push_back(child); });
    }
    return reads;
  };
  std::vector<Open> stack;
  PointerSet met;
  const auto open = [&](const Expr& expr) {
    if (!met.insert(expr.get())) return;
    if (is_cell(expr->kind()))
      throw NotSupported(
          "a program with references cannot be cut: what they hold depends on all that ran before");
    stack.push_back({node_of(expr), reads_of(expr)});
  };
  open(main_->body());
  while (!stack.empty()) {
    Open& top = stack.back();
    if (top.next < top.reads.size()) {
      const Expr child = top.reads[top.next++];
      open(child);
      continue;
    }
    for (const Expr& child : top.reads) top.node.reads.push_back(*numbers_.find(child.get()));
    std::sort(top.node.reads.begin(), top.node.reads.end());
    top.node.reads.erase(std::unique(top.node.reads.begin(), top.node.reads.end()), top.node.reads.end());
    numbers_.insert(top.node.expr.get(), static_cast<uint32_t>(nodes_.size()));
    nodes_.push_back(std::move(top.node));
    stack.pop_back();
  }
}

CutNode CutGraph::node_of(const Expr& expr) const {
  CutNode node{expr, false, {}, {}, "", ""};
  switch (expr->kind()) {
    case ExprKind::kIf:
      node.control = "the `if`" + place_of(expr);
      break;
    case ExprKind::kMatch:
      node.control = "the `match`" + place_of(expr);
      break;
    case ExprKind::kFunction:
    case ExprKind::kLet:
      node.control = "the function that is a value" + place_of(expr);
      break;
    case ExprKind::kCall: {
      const auto& call = static_cast<const CallNode&>(*expr);
      if (call.op()) {
        node.step = true;
        const auto origins = expr->origins().origins();
        node.operators.assign(origins.begin(), origins.end());
        return node;
      }
      if (const auto* global = as<GlobalVarNode>(call.callee())) {
        if (calls_.calls_itself(global->name()))
          node.control = "the recursion of `@" + global->name() + "`";
        else
          node.inside = "the function `@" + global->name() + "`";
        node.step = true;
        node.operators = operators_of({call.callee()});
        return node;
      }
      if (const auto* let = as<LetNode>(call.callee()))
        node.control = "the loop `%" + let->var()->name() + "`" + place_of(expr);
      else if (const auto* function = as<FunctionNode>(call.callee())) {
        const AttrValue* composite = function->attr("Composite");
        const std::string* name = composite ? composite->as<std::string>() : nullptr;
        node.inside =
            name ? "the composite function `" + *name + "`" : "the function that is called" + place_of(expr);
      } else if (call.callee()->kind() != ExprKind::kConstructor) {
        node.control = "the call of a function that is a value" + place_of(expr);
      }
      break;
    }
    default:
      return node;
  }
  node.step = true;
  node.operators = operators_of(inner_parts(expr));
  return node;
}

// The operators of all nested calls, including functions called by name, but not those of main's body itself.
std::vector<const Origin*> CutGraph::operators_of(const std::vector<Expr>& parts) const {
  const auto by_serial = [](const Origin* a, const Origin* b) { return a->serial() < b->serial(); };
  std::set<const Origin*, decltype(by_serial)> found(by_serial);
  PointerSet seen;
  std::vector<Expr> todo = parts;
  while (!todo.empty()) {
    const Expr expr = std::move(todo.back());
    todo.pop_back();
    if (!expr || !seen.insert(expr.get()) || outer_.contains(expr.get())) continue;
    if (const auto* global = as<GlobalVarNode>(expr)) {
      if (const Function function = module_->find(global->name())) todo.push_back(Expr(function));
      continue;
    }
    if (const auto* call = as<CallNode>(expr); call && call->op())
      for (const Origin* origin : expr->origins().origins()) found.insert(origin);
    for_each_child(*expr, [&](const Expr& child) { todo.push_back(child); });
  }
  return {found.begin(), found.end()};
}

bool CutGraph::captures(const Expr& part) const {
  bool found = false;
  post_order(part, [&](const Expr& node) {
    found |= node->kind() != ExprKind::kFunction && outer_.contains(node.get());
  });
  return found;
}

CutValue CutGraph::resolve(Expr expr) {
  std::vector<int> path;  // innermost item last
  while (true) {
    if (const auto* item = as<TupleGetItemNode>(expr)) {
      path.push_back(item->index());
      expr = Expr(item->tuple());
      continue;
    }
    const auto* tuple = as<TupleNode>(expr);
    if (!tuple || path.empty()) break;
    expr = Expr(tuple->fields()[static_cast<size_t>(path.back())]);
    path.pop_back();
  }
  std::reverse(path.begin(), path.end());
  return {std::move(expr), std::move(path)};
}

IRModule cut_source(const IRModule& module, const BuildContext& context) {
  initialize();
  IRModule typed = infer_types(module->copy());
  const Function main = typed->find("main");
  bool lets = false;
  if (main) post_order(main->body(), [&](const Expr& expr) { lets |= expr->kind() == ExprKind::kLet; });
  if (!lets) return typed;
  return (*make_pass("InferType"))((*make_pass("ToGraphNormalForm"))(typed, context), context);
}

std::string step_label(const CutNode& step) {
  if (!step.control.empty()) return step.control;
  if (!step.inside.empty()) return step.inside;
  if (step.operators.empty())
    return as<CallNode>(step.expr) && as<CallNode>(step.expr)->op() ? as<CallNode>(step.expr)->op()->name
                                                                    : "a step";
  std::string label;
  for (const Origin* origin : step.operators) label += (label.empty() ? "" : ", ") + origin_label(*origin);
  return label;
}

}  // namespace baton
