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
  /// `typed`: `root` is, and so are the parameters and bodies of matches.
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
  std::vector<bool> taken_;       // by number: by earlier matches, or in functions that were cut out before
  std::vector<uint32_t> within_;  // by number: the last match that the node was looked at for
  PointerMap<bool> is_input_;     // of the match that is entered
  uint32_t matched_ = 0;
  const bool typed_;
};

}  // namespace baton
