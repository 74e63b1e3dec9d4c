#pragma once
// Which layouts an operator can compute in. Attached to operators through OpDef::rules, read by the
// AlterOpLayout of builds (transform/layout/alter_op_layout.h); common rules are in ops/rules/layout_rules.h.
#include <functional>
#include <optional>

#include "baton/ir/expr.h"
#include "baton/ir/rules/known_layout.h"

namespace baton {

/// How an operator is computed with its inputs (tuples flattened) in other layouts.
struct LayoutPlan {
  LayoutStates inputs;  ///< what each input must be (`now`); no state: as in the program
  LayoutStates outputs;
  Attrs attrs;  ///< null: as they are
};

struct LayoutRule {
  /// The plan for `call` (typed) when its inputs come as `inputs`, some of them changed; nothing when it
  /// cannot be computed like that: then they are changed back.
  std::function<std::optional<LayoutPlan>(const CallNode& call, const LayoutStates& inputs)> plan;
};

}  // namespace baton
