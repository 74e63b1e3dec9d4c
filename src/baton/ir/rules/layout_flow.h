#pragma once
// Layout inference rules: which layouts an operator's tensors have, and how it is computed when they change.
// Attached through OpDef::rules, read by the layout passes that are called by name
// (transform/layout/layout_flow.h); common rules, and those that need no entry in an operator's block, are in
// ir/rules/layout_flow_rules.h.
#include <functional>
#include <optional>
#include <vector>

#include "baton/ir/op.h"
#include "baton/ir/rules/known_layout.h"

namespace baton {

/// One per tensor, tuples flattened.
using Layouts = std::vector<KnownLayout>;

/// A call, as seen by its layout rule.
struct LayoutQuery {
  const OpDef& op;
  const Attrs& attrs;                                 ///< null where the operator has none
  const std::vector<const TensorTypeNode*>& types;    ///< of the inputs, in the original program
  const std::vector<const TensorTypeNode*>& results;  ///< of the outputs, in the original program
  Layouts was;                                        ///< of the inputs, in the original program
  Layouts now;  ///< current layouts of the inputs; empty while only the original program is analysed

  const Layouts& given() const { return now.empty() ? was : now; }
  bool moved(size_t input) const {
    return input < now.size() && now[input] && was[input] && now[input] != was[input];
  }
};

struct LayoutFlow {
  Layouts inputs;    ///< required of each input; null: as in the original program
  Layouts outputs;   ///< resulting
  Attrs attrs = {};  ///< null: unchanged
};

struct LayoutFlowRule {
  /// Called first without `now`: returns the layouts of inputs and outputs in the original program. Then with
  /// it: returns the layouts the operator requires. Nullopt when it has no layouts, or cannot be computed in
  /// others.
  std::function<std::optional<LayoutFlow>(const LayoutQuery&)> infer;
};

}  // namespace baton
