#pragma once
// Which nodes of an expression belong to which match of a pattern. Used by pattern_rewrite.cc only.
#include <cstdint>
#include <string>
#include <vector>

#include "baton/byoc/matcher.h"
#include "baton/support/pointer_map.h"

namespace baton {

/// One match.
struct PatternGroup {
  Expr root;
  DFMatches matches;
  std::vector<Expr> inputs;               ///< what enters it
  std::vector<Var> params;                ///< one for each input
  Expr body;                              ///< the root over the params
  std::string name;                       ///< "nn.conv2d_nn.relu_"
  std::vector<Expr> inner;                ///< the calls, tuples, ... of the match; the root is the last
  OriginSet origins = OriginSet::none();  ///< of all of them
};

/// All matches of `pattern` in `root` that do not overlap, by root expression.
class PatternGroups {
 public:
  PatternGroups(const DFPattern& pattern, const Expr& root);
  /// The match whose root is `expr`, or null.
  const PatternGroup* at(const ExprNode* expr) const {
    const size_t* group = at_.find(expr);
    return group ? &groups_[*group] : nullptr;
  }
  bool empty() const { return groups_.empty(); }

 private:
  void enter(const Expr& root, const DFMatches& matches);
  void find_inputs(PatternGroup& group, PointerMap<Expr>& param_of);
  bool is_closed(const PatternGroup& group) const;

  std::vector<DFPattern> parts_;
  DataflowGraph graph_;
  std::vector<PatternGroup> groups_;
  PointerMap<size_t> at_;
  PointerSet taken_;  // by earlier matches, or in functions that were cut out before
  int matched_ = 0;
};

}  // namespace baton
