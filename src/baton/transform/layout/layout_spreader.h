#pragma once
// The rewriter behind the layout passes of builds. A LayoutPlanner decides for each call in which layouts it
// is computed, given the layouts of its inputs. Where a producer's layout is not the one wanted, the rewriter
// inserts a layout_transform, and an expand_dims where axes are missing. Inserted operators are the
// compiler's own: they have no origin, and name the operator they were made for. Tuples are flattened.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/ir/op.h"
#include "baton/ir/rules/known_layout.h"

namespace baton {

/// The replacement of a call.
struct PlannedCall {
  const OpDef* op;
  Attrs attrs;
  std::string wants;  ///< "computes in NCHW16c": the reason given for inserted operators; empty: the layout
  std::vector<Expr> args = {};  ///< replace the call's arguments; empty: they stay
  /// Per argument, or empty: applied to it once it has the planned layout (a weight transform).
  std::vector<std::function<Expr(const Expr&)>> prepare = {};
  /// Per tensor, tuples flattened: its layout in the program (`was`) and the one wanted (`now`). Without
  /// both: the program's.
  LayoutStates inputs = {};
  LayoutStates outputs = {};
};

class LayoutPlanner {
 public:
  virtual ~LayoutPlanner() = default;
  /// Whether plan() is asked for calls of `op`. Tensors that other calls read are transformed back once,
  /// right after their producer, and that transform is made for the producer; a transform before a planned
  /// call is made for that call.
  virtual bool plans(const OpDef& op) const = 0;
  /// The plan of `call` (typed). `args`: its rewritten arguments; `inputs`: their tensors' layouts. nullopt:
  /// as in the program.
  virtual std::optional<PlannedCall> plan(const CallNode& call, const std::vector<Expr>& args,
                                          const LayoutStates& inputs) = 0;
};

/// `function` (typed), rewritten as planned. Its parameters and result keep their layouts.
Function spread_layouts(const Function& function, LayoutPlanner& planner);

}  // namespace baton
