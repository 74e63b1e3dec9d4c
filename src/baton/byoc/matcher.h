#pragma once
// Matches one expression against a dataflow pattern.
#include <span>
#include <vector>

#include "baton/byoc/dataflow_pattern.h"
#include "baton/pass/dataflow_graph.h"
#include "baton/support/pointer_index.h"
#include "baton/support/pointer_map.h"

namespace baton {

/// The expressions matched by each pattern: one each, several for those repeated along the path of a
/// dominator pattern.
class DFMatches {
 public:
  /// Empty when `pattern` did not take part in the match.
  std::span<const Expr> of(const DFPattern& pattern) const;
  const std::vector<std::pair<DFPattern, std::vector<Expr>>>& all() const { return all_; }
  void add(const DFPattern& pattern, const Expr& expr);

 private:
  static constexpr size_t kFew = 16;
  size_t index_of(const DFPattern& pattern) const;  // all_.size() when it did not take part
  std::vector<std::pair<DFPattern, std::vector<Expr>>> all_;
  PointerMap<size_t> at_;  // used beyond a few entries
};

/// Matches one pattern against expressions of a graph. As in TVM, the arguments of add and multiply match in
/// both orders, and (a * b) / c matches (a / c) * b and the like. Unlike TVM 0.11.1, variables and constants
/// may enter the path of a dominator pattern, and each path from the child must lead to the parent.
class DFMatcher {
 public:
  /// `graph` may be null when the pattern has no dominator pattern.
  DFMatcher(DFPattern pattern, const DataflowGraph* graph);
  /// Whether `expr` matches; if so, matches() holds the matched expressions.
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
    bool repeated = false;  // on the path of a dominator pattern: does not bind the pattern
  };
  DFPattern pattern_;
  const DataflowGraph* graph_;
  std::vector<const OpDef*> root_ops_;  // possible root operators; unless any_root_
  bool any_root_ = false;
  const ExprNode*& bound(const DFPattern& pattern);

  std::vector<Met> met_;
  PointerIndex numbers_;                          // of patterns
  std::vector<const ExprNode*> bound_;            // by number: the matched expression, or null
  PointerMap<Type> types_;                        // inferred types
  PointerMap<std::vector<DFPattern>> regrouped_;  // by call pattern: its regrouped forms
  std::vector<Expr> kept_;
};

/// Whether `expr` matches `pattern`.
bool dataflow_match(const DFPattern& pattern, const Expr& expr);

}  // namespace baton
