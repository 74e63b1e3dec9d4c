#include "baton/ir/analysis/features.h"

#include "baton/ir/op.h"
#include "baton/ir/visit.h"
#include "baton/support/error.h"
#include "baton/support/pointer_map.h"

namespace baton {

namespace {

Feature feature_of(ExprKind kind) {
  switch (kind) {
    case ExprKind::kVar:
      return Feature::kVar;
    case ExprKind::kGlobalVar:
      return Feature::kGlobalVar;
    case ExprKind::kConstant:
      return Feature::kConstant;
    case ExprKind::kOp:
      return Feature::kOp;
    case ExprKind::kConstructor:
      return Feature::kConstructor;
    case ExprKind::kTuple:
      return Feature::kTuple;
    case ExprKind::kTupleGetItem:
      return Feature::kTupleGetItem;
    case ExprKind::kCall:
      return Feature::kCall;
    case ExprKind::kFunction:
      return Feature::kFunction;
    case ExprKind::kLet:
      return Feature::kLet;
    case ExprKind::kIf:
      return Feature::kIf;
    case ExprKind::kMatch:
      return Feature::kMatch;
    case ExprKind::kRefCreate:
      return Feature::kRefCreate;
    case ExprKind::kRefRead:
      return Feature::kRefRead;
    case ExprKind::kRefWrite:
      return Feature::kRefWrite;
  }
  internal_error(__FILE__, __LINE__, "an expression of no kind", "");
}

// Visits each node once. A use of a let's variable while its value is being walked is a recursion.
class FeatureWalk {
 public:
  std::set<Feature> found;

  void walk(const Expr& root) {
    todo_.push_back({Step::kLook, root.get()});
    while (!todo_.empty()) {
      const Step step = todo_.back();
      todo_.pop_back();
      if (step.what == Step::kLook)
        look(*step.node);
      else
        in_value_[static_cast<const LetNode*>(step.node)->var().get()] = step.what == Step::kOpenValue;
    }
  }

 private:
  struct Step {
    enum What : uint8_t { kLook, kOpenValue, kCloseValue } what;
    const ExprNode* node;
  };

  void look(const ExprNode& node) {
    found.insert(feature_of(node.kind()));
    if (is_leaf(node.kind())) {
      const bool* in_value = in_value_.find(&node);
      if (in_value && *in_value) found.insert(Feature::kLetRec);
      return;
    }
    if (!seen_.insert(&node)) {
      found.insert(Feature::kGraph);
      return;
    }
    if (const auto* let = as<LetNode>(&node)) {
      found.insert(Feature::kVar);
      todo_.push_back({Step::kLook, let->body().get()});
      todo_.push_back({Step::kCloseValue, let});
      todo_.push_back({Step::kLook, let->value().get()});
      todo_.push_back({Step::kOpenValue, let});
      return;
    }
    for_each_child(node, [&](const Expr& child) { todo_.push_back({Step::kLook, child.get()}); });
    if (const auto* match = as<MatchNode>(&node))
      for (const Clause& clause : match->clauses()) look_at_pattern(*clause.pattern);
  }

  void look_at_pattern(const PatternNode& pattern) {
    if (pattern.kind() == PatternKind::kConstructor) found.insert(Feature::kConstructor);
    for (const Pattern& each : pattern.patterns()) look_at_pattern(*each);
  }

  std::vector<Step> todo_;
  PointerSet seen_;
  PointerMap<bool> in_value_;  // let-bound variables
};

}  // namespace

std::set<Feature> features(const Expr& root) {
  FeatureWalk walk;
  walk.walk(root);
  return walk.found;
}

std::set<Feature> features(const IRModuleNode& module) {
  std::set<Feature> all;
  for (const auto& [name, function] : module.functions()) all.merge(features(Expr(function)));
  return all;
}

std::map<std::string, int64_t> op_frequencies(const IRModuleNode& module) {
  std::map<std::string, int64_t> counts;
  for (const auto& [name, function] : module.functions())
    post_order(Expr(function), [&](const Expr& node) {
      const auto* call = as<CallNode>(node);
      if (call && call->op()) ++counts[call->op()->name];
    });
  return counts;
}

std::set<std::string> all_dtypes(const Expr& root) {
  std::set<std::string> dtypes;
  post_order(root, [&](const Expr& node) {
    const ExprKind kind = node->kind();
    if (kind == ExprKind::kOp || kind == ExprKind::kGlobalVar || kind == ExprKind::kConstructor) return;
    if (!node->checked_type())
      throw Error("a part of the expression has no type yet: run InferType on its module");
    visit_types(node->checked_type(), [&](const Type& part) {
      if (const auto* tensor = as_type<TensorTypeNode>(part)) dtypes.insert(tensor->dtype().str());
    });
  });
  return dtypes;
}

}  // namespace baton
