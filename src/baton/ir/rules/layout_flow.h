#pragma once
// Which layouts the tensors of an operator have, and how it is computed when they come in others. Attached to
// operators through OpDef::rules, read by the layout passes that are called by name
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

/// A call, as far as layouts are concerned.
struct LayoutQuery {
  const OpDef& op;
  const Attrs& attrs;                                 ///< null where the operator has none
  const std::vector<const TensorTypeNode*>& types;    ///< of the inputs, in the program
  const std::vector<const TensorTypeNode*>& results;  ///< the same of the outputs
  Layouts was;                                        ///< of the inputs, in the program
  Layouts now;  ///< as the inputs come; empty while only the program is looked at

  const Layouts& given() const { return now.empty() ? was : now; }
  bool moved(size_t input) const {
    return input < now.size() && now[input] && was[input] && now[input] != was[input];
  }
};

struct LayoutFlow {
  Layouts inputs;    ///< what each must be; null: as in the program
  Layouts outputs;   ///< what comes out then
  Attrs attrs = {};  ///< null: as they are
};

struct LayoutFlowRule {
  /// First asked without `now`: the layouts that inputs and outputs have in the program. Then with it: what
  /// the operator wants them to be. Nothing when it knows no layouts, or cannot be computed in others.
  std::function<std::optional<LayoutFlow>(const LayoutQuery&)> infer;
};

}  // namespace baton
