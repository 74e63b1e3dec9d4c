#pragma once
// Propagation of layouts as in TVM 0.11.1, for the layout passes called by name (builds use
// layout_spreader.h). The pass replaces some calls; every operator's LayoutFlowRule (ir/rules/layout_flow.h)
// then infers the layouts of its inputs and outputs. It is asked also where no layout changes, since missing
// axes are added there too.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/ir/op.h"
#include "baton/transform/op_hooks.h"

namespace baton {

/// The replacement of a call. Its layouts follow from its attributes.
struct WantedCall {
  const OpDef* op;
  Attrs attrs;
  std::string wants;            ///< "computes in NCHW16c": the reason given for inserted operators
  std::vector<Expr> args = {};  ///< replace the call's arguments; empty: they stay
};

/// nullopt: the call stays. `call` is typed; `args` are its rewritten arguments.
using LayoutWish =
    std::function<std::optional<WantedCall>(const CallNode& call, const std::vector<Expr>& args)>;

/// The replacement by the user's rule (FTVMAlterOpLayout, FTVMConvertOpLayout), or for operators without one
/// by `own`.
std::optional<WantedCall> wish_of_user(OpQuestion question, const CallNode& call,
                                       const std::vector<Expr>& args, const std::vector<std::string>& desired,
                                       const std::function<std::optional<WantedCall>()>& own);

/// `function` (typed) with the replaced calls and the layouts that follow. Its parameters and result keep
/// their layouts.
Function let_layouts_flow(const Function& function, const LayoutWish& wish);

}  // namespace baton
