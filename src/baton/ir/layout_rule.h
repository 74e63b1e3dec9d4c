#pragma once
// Which layouts an operator can compute in. Attached to operators through OpDef::rules, read by the layout
// passes (transform/layout_rewriter.h); common rules are in ops/rules/layout_rules.h.
#include <functional>
#include <optional>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/ir/layout.h"

namespace baton {

/// How a tensor of the program lies now. Both empty: as in the program, and nobody said what its axes mean.
struct LayoutState {
  std::optional<Layout> was;  ///< the layout it has in the program
  std::optional<Layout> now;
  bool changed() const { return was && now && !(*was == *now); }
  friend bool operator==(const LayoutState&, const LayoutState&) = default;
};

/// How an operator is computed with its inputs (tuples flattened) in other layouts.
struct LayoutPlan {
  std::vector<LayoutState> inputs;  ///< what each input must be; empty states: as in the program
  std::vector<LayoutState> outputs;
  Attrs attrs;  ///< null: as they are
};

struct LayoutRule {
  /// The plan for `call` (typed) when its inputs come as `inputs`, some of them changed; nothing when it
  /// cannot be computed like that: then they are changed back.
  std::function<std::optional<LayoutPlan>(const CallNode& call, const std::vector<LayoutState>& inputs)> plan;
};

}  // namespace baton
