#pragma once
// Matching one expression with a dataflow pattern.
#include <span>
#include <vector>

#include "baton/byoc/dataflow_pattern.h"
#include "baton/pass/dataflow_graph.h"
#include "baton/support/pointer_index.h"
#include "baton/support/pointer_map.h"

namespace baton {

/// What matched, by pattern: one expression each, several for those that are repeated along the path of a
/// dominator.
class DFMatches {
 public:
  /// Empty when `pattern` took no part.
  std::span<const Expr> of(const DFPattern& pattern) const;
  const std::vector<std::pair<DFPattern, std::vector<Expr>>>& all() const { return all_; }
  void add(const DFPattern& pattern, const Expr& expr);

 private:
  static constexpr size_t kFew = 16;
  size_t index_of(const DFPattern& pattern) const;  // all_.size() when it took no part
  std::vector<std::pair<DFPattern, std::vector<Expr>>> all_;
  PointerMap<size_t> at_;  // when there are more than a few
};

/// Matches one pattern with expressions of one graph. As TVM does: the arguments of add and multiply may come
/// in both orders, and (a * b) / c meets (a / c) * b and the like. Unlike TVM 0.11.1, variables and constants
/// may enter the path of a dominator from the side, and each way from the child must lead to the parent.
class DFMatcher {
 public:
  /// `graph` may be null when the pattern has no dominator.
  DFMatcher(DFPattern pattern, const DataflowGraph* graph);
  /// Whether `expr` matches; then matches() says what met what.
  bool match(const Expr& expr);
  DFMatches matches() const;
  static bool needs_graph(const DFPattern& pattern);

 private:
  bool visit(const DFPattern& pattern, const Expr& expr);
  bool visit_anew(const DFPatternNode& pattern, const Expr& expr);
  bool visit_call(const DFPatternNode& pattern, const Expr& expr);
  bool visit_regrouped(const DFPatternNode& pattern, const CallNode& call);
  bool visit_all(std::span<const DFPattern> patterns, std::span<const Expr> exprs);
  bool visit_dominator(const DFPatternNode& pattern, const Expr& expr);
  bool dominates_region(const DFPatternNode& pattern, const Expr& expr);
  Type type_of(const Expr& expr);
  void forget_since(size_t mark);

  struct Met {
    DFPattern pattern;
    Expr expr;
    bool repeated = false;  // on the path of a dominator: does not bind the pattern
  };
  DFPattern pattern_;
  const DataflowGraph* graph_;
  std::vector<const OpDef*> root_ops_;  // what a match may call; unless any_root_
  bool any_root_ = false;
  const ExprNode*& bound(const DFPattern& pattern);

  std::vector<Met> met_;
  PointerIndex numbers_;                          // of patterns
  std::vector<const ExprNode*> bound_;            // by number: what the pattern met; null while nothing
  PointerMap<Type> types_;                        // of what had to be inferred
  PointerMap<std::vector<DFPattern>> regrouped_;  // by call pattern: the other ways to write it
  std::vector<Expr> kept_;
};

/// Whether `expr` matches `pattern`.
bool dataflow_match(const DFPattern& pattern, const Expr& expr);

}  // namespace baton
