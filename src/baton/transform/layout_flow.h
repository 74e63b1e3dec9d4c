#pragma once
// Layouts as TVM 0.11.1 spreads them, for the layout passes that are called by name. A pass says which calls it wants
// otherwise; every operator then says what it makes of the layouts that come in (ir/layout_flow.h). Where what comes in
// is not what is wanted, layout_transforms are put in between, and expand_dims where axes are missing, also where no
// layout changes. Tuples are taken apart on the way. (Builds use transform/layout_rewriter.h.)
#include <functional>
#include <optional>
#include <string>

#include "baton/ir/expr.h"
#include "baton/ir/op.h"

namespace baton {

/// What takes the place of a call. Its layouts follow from its attributes.
struct WantedCall {
  const OpDef* op;
  Attrs attrs;
  std::string wants;  ///< "computes in NCHW16c", for the reason of what is added
};

/// Nothing: the call stays what it is. `call` is typed.
using LayoutWish = std::function<std::optional<WantedCall>(const CallNode& call)>;

/// `function` (typed), computed as wished. Its parameters and result keep their layouts.
Function spread_layouts(const Function& function, const LayoutWish& wish);

}  // namespace baton
