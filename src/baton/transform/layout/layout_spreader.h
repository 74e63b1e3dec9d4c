#pragma once
// The machine of the passes that change layouts. A LayoutPlanner says how calls are computed: those it wants
// otherwise, and those whose inputs come otherwise because of that. Where what comes in is not what is
// wanted, layout_transforms are put in between, and expand_dims where axes are missing. These are the
// compiler's own: they stand for no operator, but name the one they were made for. Tuples are taken apart on
// the way.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/ir/op.h"
#include "baton/ir/rules/known_layout.h"

namespace baton {

/// What takes the place of a call.
struct PlannedCall {
  const OpDef* op;
  Attrs attrs;
  std::string wants;  ///< "computes in NCHW16c", for the reason of what is added; empty: that of the layout
  std::vector<Expr> args = {};  ///< what is read in place of the call's arguments; empty: those
  /// For each argument, or empty: what is done to it, when it lies as planned, before it is used (a weight
  /// transform).
  std::vector<std::function<Expr(const Expr&)>> prepare = {};
  /// Tuples flattened: how each tensor comes (`was`) and is wanted (`now`). Without both: as in the program.
  LayoutStates inputs = {};
  LayoutStates outputs = {};
};

class LayoutPlanner {
 public:
  virtual ~LayoutPlanner() = default;
  /// Whether calls of `op` are planned. What others use is changed back behind the call that makes it, for
  /// the sake of that call; what planned ones do not follow in front of them, for their sake.
  virtual bool plans(const OpDef& op) const = 0;
  /// How `call` (typed) is computed. `args` are its arguments as they are computed now, `inputs` how their
  /// tensors lie then. Nothing: as in the program.
  virtual std::optional<PlannedCall> plan(const CallNode& call, const std::vector<Expr>& args,
                                          const LayoutStates& inputs) = 0;
};

/// `function` (typed), computed as planned. Its parameters and result keep their layouts.
Function spread_layouts(const Function& function, LayoutPlanner& planner);

}  // namespace baton
