#pragma once
// Layouts as TVM 0.11.1 spreads them, for the layout passes that are called by name. A pass says which calls
// it wants otherwise; every operator then says what it makes of the layouts that come in
// (ir/rules/layout_flow.h), also where no layout changes: axes that are missing are added there too. (Builds
// plan otherwise: alter_op_layout.cc.)
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/ir/op.h"
#include "baton/transform/op_hooks.h"

namespace baton {

/// What takes the place of a call. Its layouts follow from its attributes.
struct WantedCall {
  const OpDef* op;
  Attrs attrs;
  std::string wants;            ///< "computes in NCHW16c", for the reason of what is added
  std::vector<Expr> args = {};  ///< what is read in place of the call's arguments; empty: those
};

/// Nothing: the call stays what it is. `call` is typed; `args` are its arguments as they are computed now.
using LayoutWish =
    std::function<std::optional<WantedCall>(const CallNode& call, const std::vector<Expr>& args)>;

/// What the user answers (FTVMAlterOpLayout, FTVMConvertOpLayout); `own` is asked for operators without such
/// an answer.
std::optional<WantedCall> wish_of_user(OpQuestion question, const CallNode& call,
                                       const std::vector<Expr>& args, const std::vector<std::string>& desired,
                                       const std::function<std::optional<WantedCall>()>& own);

/// `function` (typed), computed as wished. Its parameters and result keep their layouts.
Function let_layouts_flow(const Function& function, const LayoutWish& wish);

}  // namespace baton
