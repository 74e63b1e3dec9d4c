#pragma once
// Applies dataflow patterns to an expression: outlines all matches as functions, or replaces them by a
// callback's results.
#include <functional>
#include <string>
#include <vector>

#include "baton/byoc/dataflow_pattern.h"
#include "baton/byoc/matcher.h"
#include "baton/ir/module.h"

namespace baton {

/// Whether to use a match; called with its root.
using DFCheck = std::function<bool(const Expr& root)>;

/// Types of outlined functions.
enum class CutTypes : uint8_t {
  kLeftOpen,  ///< unannotated parameters; changed nodes are untyped
  kGiven,     ///< as type inference would find: requires a typed `expr`; the result is typed
};

/// `expr` with each match of `pattern` accepted by `check` outlined as a function, called where the match
/// was; its parameters are the values matched by the leaves of the pattern. Matches are searched from the
/// last node to the first and do not overlap; a match is rejected when one of its inner values is used
/// outside it, unless all such uses lead back to its root. Constants matched by a constant pattern are
/// inside. The function gets PartitionedFromPattern="<op>_<op>_", then `attrs`.
Expr dataflow_partition(const DFPattern& pattern, const Expr& expr, const FunctionAttrs& attrs = {},
                        const DFCheck& check = {}, CutTypes types = CutTypes::kLeftOpen);

/// A rewrite rule: matches of `pattern` are replaced by the result of `rewrite`, called with the original
/// root, the same node over rewritten inputs, and the (rewritten) expressions matched by the subpatterns.
struct DFCallback {
  DFPattern pattern;
  std::function<Expr(const Expr& before, const Expr& after, const DFMatches& matches)> rewrite;
  bool require_type = false;  ///< infer types before each round
  bool rewrite_once = false;  ///< one round instead of a fixed point
};

/// The fate of a match's origins that the callback's result does not carry.
enum class Replaced : uint8_t {
  kForgotten,  ///< origins need not be conserved: outside of passes
  kRetired,    ///< retired: in a pass that may retire
};

/// Applies the rules in order, in rounds, to a fixed point. Replacements get the origins of the matched
/// operators. `module`: for type inference, when rules require it. UsageError after 100 rounds.
Expr dataflow_rewrite(const std::vector<DFCallback>& callbacks, const Expr& expr, const IRModule& module = {},
                      Replaced replaced = Replaced::kForgotten);

}  // namespace baton
