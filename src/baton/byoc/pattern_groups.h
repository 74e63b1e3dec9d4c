#pragma once
// The nodes of each match of a pattern in an expression. Used by pattern_rewrite.cc only.
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
  std::vector<Expr> inputs;  ///< operands from outside the match
  std::vector<Var> params;   ///< one for each input
  Expr body;                 ///< the root over the params
  std::string name;          ///< "nn.conv2d_nn.relu_"
  std::vector<Expr> inner;   ///< the calls, tuples, ... of the match in post-order; the root is last
  OriginSet origins = OriginSet::none();  ///< of all of them
};

/// All non-overlapping matches of `pattern` in `root`, by root expression.
class PatternGroups {
 public:
  /// `typed`: `root`, and hence the parameters and bodies of matches, are typed.
  PatternGroups(const DFPattern& pattern, const Expr& root, bool typed);
  /// The match whose root is `expr`, or null.
  const PatternGroup* at(const ExprNode* expr) const {
    const size_t* group = at_.find(expr);
    return group ? &groups_[*group] : nullptr;
  }
  bool empty() const { return groups_.empty(); }

 private:
  void enter(const Expr& root, DFMatches matches);
  void find_inputs(PatternGroup& group);
  bool is_closed(const PatternGroup& group);

  std::vector<DFPattern> parts_;
  DataflowGraph graph_;
  std::vector<PatternGroup> groups_;
  PointerMap<size_t> at_;
  std::vector<bool> taken_;       // by number: part of an earlier match, or in a function outlined before
  std::vector<uint32_t> within_;  // by number: the last match that visited the node
  PointerMap<bool> is_input_;     // for the current match
  uint32_t matched_ = 0;
  const bool typed_;
};

}  // namespace baton
