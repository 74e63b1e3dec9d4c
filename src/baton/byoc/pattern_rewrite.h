#pragma once
// All matches of a dataflow pattern in an expression: cut out as functions, or replaced by what a callback
// makes of them.
#include <functional>
#include <string>
#include <vector>

#include "baton/byoc/dataflow_pattern.h"
#include "baton/byoc/matcher.h"
#include "baton/ir/module.h"

namespace baton {

/// Whether a match is to be used; asked with its root.
using DFCheck = std::function<bool(const Expr& root)>;

/// What is known of the types of functions that are cut out.
enum class CutTypes : uint8_t {
  kLeftOpen,  ///< nothing: parameters are not annotated, and whatever is changed has no type
  kGiven,     ///< what type inference would find: `expr` is typed, and the result then is
};

/// `expr` with each match of `pattern` that `check` accepts as a call of a function of its own, whose
/// parameters are what the leaves of the pattern met. Matches are looked for from the last node to the first
/// and do not overlap; a match one of whose inner values is used outside of it is none, unless all such uses
/// lead back to its root. Constants that a constant pattern met are inside. The function gets
/// PartitionedFromPattern="<op>_<op>_", then `attrs`.
Expr dataflow_partition(const DFPattern& pattern, const Expr& expr, const FunctionAttrs& attrs = {},
                        const DFCheck& check = {}, CutTypes types = CutTypes::kLeftOpen);

/// One rule: the matches of `pattern` are replaced by what `rewrite` returns for the root as it was, the same
/// node over rewritten inputs, and what the parts of the pattern met (rewritten).
struct DFCallback {
  DFPattern pattern;
  std::function<Expr(const Expr& before, const Expr& after, const DFMatches& matches)> rewrite;
  bool require_type = false;  ///< types are inferred before each round
  bool rewrite_once = false;  ///< one round, not until nothing changes
};

/// What becomes of the operators of a match that nothing its callback returns stands for.
enum class Replaced : uint8_t {
  kForgotten,  ///< origins need not be conserved: outside of passes
  kRetired,    ///< they are retired: in a pass that may retire
};

/// Applies the rules one after the other, round after round until nothing changes. What a rule makes stands
/// for the operators that matched. `module`: for types, when rules require them. UsageError after 100 rounds.
Expr dataflow_rewrite(const std::vector<DFCallback>& callbacks, const Expr& expr, const IRModule& module = {},
                      Replaced replaced = Replaced::kForgotten);

}  // namespace baton
