#pragma once
// Alternative layouts an operator can be computed in. Attached through OpDef::rules, read by the
// AlterOpLayout of builds (transform/layout/alter_op_layout.h); common rules are in ops/rules/layout_rules.h.
#include <functional>
#include <optional>

#include "baton/ir/expr.h"
#include "baton/ir/rules/known_layout.h"

namespace baton {

/// How an operator is computed when its inputs (tuples flattened) have changed layouts.
struct LayoutPlan {
  LayoutStates inputs;  ///< required of each input (`now`); no state: as in the original program
  LayoutStates outputs;
  Attrs attrs;  ///< null: unchanged
};

struct LayoutRule {
  /// The plan for a typed `call` when its inputs have layouts `inputs`, some of them changed; nullopt when
  /// unsupported: the inputs are then converted back.
  std::function<std::optional<LayoutPlan>(const CallNode& call, const LayoutStates& inputs)> plan;
};

}  // namespace baton
