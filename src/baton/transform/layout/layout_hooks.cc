#include "baton/transform/layout/layout_hooks.h"

#include <utility>

#include "baton/transform/rule_hooks.h"

namespace baton {

void set_layout_hook(const std::string& op, LayoutFlowRule rule) {
  RuleHooks<LayoutFlowRule>::all().set(op, std::move(rule));
}

void reset_layout_hook(const std::string& op) { RuleHooks<LayoutFlowRule>::all().reset(op); }

std::shared_ptr<const LayoutFlowRule> layout_flow_rule(const OpDef& op) {
  return RuleHooks<LayoutFlowRule>::all().rule_of(op);
}

}  // namespace baton
