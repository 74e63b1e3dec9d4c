#pragma once
// Layout rules that users register from Python: TVM's attribute FInferCorrectLayout. A hook overrides the
// rule in the operator's block.
#include <memory>
#include <string>

#include "baton/ir/rules/layout_flow.h"

namespace baton {

/// Registers `rule`. UsageError when there is no operator of that name.
void set_layout_hook(const std::string& op, LayoutFlowRule rule);
/// Removes the hook: the operator's own rule applies again.
void reset_layout_hook(const std::string& op);
/// The hook, else the rule in the operator's block; null when there is neither.
std::shared_ptr<const LayoutFlowRule> layout_flow_rule(const OpDef& op);

}  // namespace baton
