#pragma once
// Changing the layouts operators compute in. A pass says which calls it wants otherwise (an Alterer); their
// layouts then spread through operators that can follow (ir/layout_rule.h), and layout_transforms are put
// where layouts really differ. These are the compiler's own: they stand for no operator, but name the one
// they were made for.
#include <functional>
#include <optional>
#include <string>

#include "baton/ir/layout_rule.h"

namespace baton {

/// A call as a layout pass wants it.
struct AlteredCall {
  std::string op;   ///< the operator that takes its place
  LayoutPlan plan;  ///< `attrs` are the new operator's
  /// For each argument, or empty: what is done to it, as it is in the program, before it is used (a weight
  /// transform).
  std::vector<std::function<Expr(const Expr&)>> prepare = {};
  std::string wants;  ///< "computes in NCHW16c", for the reason of what is added
};

/// Nothing: the call stays what it is. `call` is typed.
using Alterer = std::function<std::optional<AlteredCall>(const CallNode& call)>;

/// `function` (typed) with altered calls and their layouts spread. Its parameters and result keep their
/// layouts.
Function change_layouts(const Function& function, const Alterer& alter);

}  // namespace baton
