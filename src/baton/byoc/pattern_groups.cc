#include "baton/byoc/pattern_groups.h"

#include <algorithm>

#include "baton/ir/op.h"
#include "baton/ir/visit.h"
#include "baton/pass/rewriter.h"

namespace baton {

namespace {

using Form = DFPatternKind;

// Operators and functions are the same everywhere: they enter no match, they are named in it.
bool is_global(const Expr& expr) { return expr->kind() == ExprKind::kOp || expr->kind() == ExprKind::kFunction; }

// A constant that the pattern asks for belongs to the match; one that a wildcard met enters it.
bool asks_for_constant(const DFPattern& pattern) {
  if (pattern->kind() == Form::kExpr) return as<ConstantNode>(pattern->expr()) != nullptr;
  return pattern->kind() == Form::kConstant;
}

std::string name_of(const Expr& expr) {
  switch (expr->kind()) {
    case ExprKind::kCall: {
      const OpDef* op = static_cast<const CallNode&>(*expr).op();
      return op ? op->name + "_" : "Call_";
    }
    case ExprKind::kTuple: return "Tuple_";
    case ExprKind::kTupleGetItem:
      return "TupleGetItem" + std::to_string(static_cast<const TupleGetItemNode&>(*expr).index()) + "_";
    case ExprKind::kLet: return "Let_";
    case ExprKind::kIf: return "If_";
    case ExprKind::kMatch: return "Match_";
    case ExprKind::kFunction: return "Function";
    case ExprKind::kVar:
    case ExprKind::kGlobalVar:
    case ExprKind::kConstant:
    case ExprKind::kOp:
    case ExprKind::kConstructor:
    case ExprKind::kRefCreate:
    case ExprKind::kRefRead:
    case ExprKind::kRefWrite: return "";
  }
  return "";
}

/// The body of a match: its nodes over its parameters.
class Extractor final : public Rewriter {
 public:
  explicit Extractor(PatternGroup& group) : group_(group) {}
  using Rewriter::map;

 private:
  bool enter(const Expr&) override { return true; }
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    group_.name += name_of(original);
    group_.inner.push_back(original);
    return rebuilt;
  }
  PatternGroup& group_;
};

}  // namespace

PatternGroups::PatternGroups(const DFPattern& pattern, const Expr& root)
    : parts_(parts_in_order(pattern)), graph_(root) {
  for (uint32_t i = 0; i < graph_.size(); ++i) {
    const auto* function = as<FunctionNode>(graph_[i]);
    if (function && function->attr("PartitionedFromPattern"))
      post_order(function->body(), [this](const Expr& expr) { taken_.insert(expr.get()); });
  }
  DFMatcher matcher(pattern, &graph_);
  for (uint32_t i = static_cast<uint32_t>(graph_.size()); i-- > 0;)
    if (!taken_.contains(graph_[i].get()) && matcher.match(graph_[i])) enter(graph_[i], matcher.matches());
}

void PatternGroups::find_inputs(PatternGroup& group, PointerMap<Expr>& param_of) {
  // What lies between parent and child of a dominator was matched by the leaves of its path; so was the inside of
  // functions.
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
    if (inner.contains(expr.get()) || is_global(expr) || param_of.contains(expr.get())) return;
    if (as<ConstantNode>(expr) && asks_for_constant(part)) return;
    group.params.push_back(
        make_var("FunctionVar_" + std::to_string(matched_) + "_" + std::to_string(group.params.size()), {},
                 NodeInfo(OriginSet::none())));
    group.inputs.push_back(expr);
    param_of.insert(expr.get(), Expr(group.params.back()));
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

// Whether what the match computes on the way to its root may vanish from outside.
bool PatternGroups::is_closed(const PatternGroup& group) const {
  PointerSet within;
  for (const Expr& expr : group.inner) within.insert(expr.get());
  const uint32_t root = graph_.number_of(group.root.get());
  for (const Expr& expr : group.inner) {
    if (is_global(expr) || expr->kind() == ExprKind::kConstant) continue;
    if (taken_.contains(expr.get())) return false;
    if (expr == group.root) continue;
    for (uint32_t user : graph_.users(graph_.number_of(expr.get())))
      if (!within.contains(graph_[user].get()) && !graph_.post_dominated(user, root)) return false;
  }
  return true;
}

void PatternGroups::enter(const Expr& root, const DFMatches& matches) {
  PatternGroup group;
  group.root = root;
  group.matches = matches;
  PointerMap<Expr> param_of;
  find_inputs(group, param_of);
  ++matched_;
  Extractor extractor(group);
  for (size_t i = 0; i < group.inputs.size(); ++i) extractor.map(group.inputs[i], Expr(group.params[i]));
  group.body = extractor.run(root);
  if (group.inner.empty() || !is_closed(group)) return;
  std::vector<OriginSet> origins;
  for (const Expr& expr : group.inner) {
    taken_.insert(expr.get());
    origins.push_back(expr->origins());
  }
  group.origins = OriginSet::merge_all(origins);
  at_.insert(root.get(), groups_.size());
  groups_.push_back(std::move(group));
}

}  // namespace baton
