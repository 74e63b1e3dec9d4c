#include "baton/byoc/pattern_groups.h"

#include <algorithm>

#include "baton/ir/op.h"
#include "baton/ir/visit.h"
#include "baton/pass/rewriter.h"

namespace baton {

namespace {

using Form = DFPatternKind;

// Operators and global functions are referenced in a match, not passed as inputs.
bool is_global(const Expr& expr) {
  return expr->kind() == ExprKind::kOp || expr->kind() == ExprKind::kFunction;
}

// A constant matched by a constant pattern is part of the match; one matched by a wildcard is an input.
bool asks_for_constant(const DFPattern& pattern) {
  if (pattern->kind() == Form::kExpr) return as<ConstantNode>(pattern->expr()) != nullptr;
  return pattern->kind() == Form::kConstant;
}

void append_name(const Expr& expr, std::string& name) {
  switch (expr->kind()) {
    case ExprKind::kCall: {
      const OpDef* op = static_cast<const CallNode&>(*expr).op();
      name += op ? std::string_view(op->name) : "Call";
      name += '_';
      return;
    }
    case ExprKind::kTuple:
      name += "Tuple_";
      return;
    case ExprKind::kTupleGetItem:
      name += "TupleGetItem" + std::to_string(static_cast<const TupleGetItemNode&>(*expr).index()) + "_";
      return;
    case ExprKind::kLet:
      name += "Let_";
      return;
    case ExprKind::kIf:
      name += "If_";
      return;
    case ExprKind::kMatch:
      name += "Match_";
      return;
    case ExprKind::kFunction:
      name += "Function";
      return;
    case ExprKind::kVar:
    case ExprKind::kGlobalVar:
    case ExprKind::kConstant:
    case ExprKind::kOp:
    case ExprKind::kConstructor:
    case ExprKind::kRefCreate:
    case ExprKind::kRefRead:
    case ExprKind::kRefWrite:
      return;
  }
}

/// Rewrites the nodes of a match over its parameters.
class Extractor final : public Rewriter {
 public:
  Extractor(PatternGroup& group, bool typed) : group_(group), typed_(typed) {}
  using Rewriter::map;

 private:
  bool enter(const Expr&) override { return true; }
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    append_name(original, group_.name);
    group_.inner.push_back(original);
    return rebuilt;
  }
  Type type_of_rebuilt(const ExprNode& node) const override { return typed_ ? node.checked_type() : Type(); }
  PatternGroup& group_;
  const bool typed_;
};

}  // namespace

PatternGroups::PatternGroups(const DFPattern& pattern, const Expr& root, bool typed)
    : parts_(parts_in_order(pattern)),
      graph_(root),
      taken_(graph_.size()),
      within_(graph_.size()),
      typed_(typed) {
  for (uint32_t i = 0; i < graph_.size(); ++i) {
    const auto* function = as<FunctionNode>(graph_[i]);
    if (function && function->attr("PartitionedFromPattern"))
      post_order(function->body(), [this](const Expr& expr) { taken_[graph_.number_of(expr.get())] = true; });
  }
  DFMatcher matcher(pattern, &graph_);
  for (uint32_t i = static_cast<uint32_t>(graph_.size()); i-- > 0;)
    if (!taken_[i] && matcher.match(graph_[i])) enter(graph_[i], matcher.matches());
}

void PatternGroups::find_inputs(PatternGroup& group) {
  // Nodes between parent and child of a dominator pattern were matched by its path; function bodies likewise.
  is_input_.clear();
  PointerSet inner;
  for (const DFPattern& part : parts_) {
    if (part->kind() == Form::kDominator)
      for (const DFPattern& way : {part->parts()[0], part->parts()[1]})
        for (const Expr& expr : group.matches.of(way)) inner.insert(expr.get());
    if (part->kind() == Form::kFunction)
      for (const Expr& expr : group.matches.of(part))
        post_order(as<FunctionNode>(expr)->body(), [&](const Expr& node) { inner.insert(node.get()); });
  }
  const auto input = [&](const DFPattern& part, const Expr& expr) {
    if (inner.contains(expr.get()) || is_global(expr)) return;
    if (as<ConstantNode>(expr) && asks_for_constant(part)) return;
    if (!is_input_.insert(expr.get(), true).second) return;
    group.params.push_back(
        make_var("FunctionVar_" + std::to_string(matched_) + "_" + std::to_string(group.params.size()),
                 typed_ ? expr->checked_type() : Type(), NodeInfo(OriginSet::none())));
    group.inputs.push_back(expr);
  };
  for (const DFPattern& part : parts_) {
    for (const Expr& met : group.matches.of(part)) {
      if (part->kind() == Form::kTuple && part->open()) {
        for (const Expr& field : as<TupleNode>(met)->fields()) input(part, field);
      } else if (part->kind() == Form::kCall && part->open()) {
        for (const Expr& arg : as<CallNode>(met)->args()) input(part, arg);
      } else if (part->parts().empty()) {
        input(part, met);
      }
    }
  }
}

// Whether the inner values of the match have no uses outside it.
bool PatternGroups::is_closed(const PatternGroup& group) {
  for (const Expr& expr : group.inner) within_[graph_.number_of(expr.get())] = matched_;
  const uint32_t root = graph_.number_of(group.root.get());
  for (const Expr& expr : group.inner) {
    if (is_global(expr) || expr->kind() == ExprKind::kConstant) continue;
    const uint32_t number = graph_.number_of(expr.get());
    if (taken_[number]) return false;
    if (number == root) continue;
    for (uint32_t user : graph_.users(number))
      if (within_[user] != matched_ && !graph_.post_dominated(user, root)) return false;
  }
  return true;
}

void PatternGroups::enter(const Expr& root, DFMatches matches) {
  PatternGroup group;
  group.root = root;
  group.matches = std::move(matches);
  find_inputs(group);
  ++matched_;
  Extractor extractor(group, typed_);
  for (size_t i = 0; i < group.inputs.size(); ++i) extractor.map(group.inputs[i], Expr(group.params[i]));
  group.body = extractor.run(root);
  if (group.inner.empty() || !is_closed(group)) return;
  std::vector<OriginSet> origins;
  origins.reserve(group.inner.size());
  for (const Expr& expr : group.inner) {
    taken_[graph_.number_of(expr.get())] = true;
    origins.push_back(expr->origins());
  }
  group.origins = OriginSet::merge_all(origins);
  at_.insert(root.get(), groups_.size());
  groups_.push_back(std::move(group));
}

}  // namespace baton
