#include "baton/transform/layout/layout_hooks.h"

#include <atomic>
#include <utility>

#include "baton/support/error.h"
#include "baton/support/registry.h"

namespace baton {

namespace {

// Never destroyed: hooks hold Python functions, and the interpreter may be gone at process exit.
Registry<LayoutFlowRule, std::string>& layout_hooks() {
  static auto& all = *new Registry<LayoutFlowRule, std::string>;
  return all;
}

// Passes ask for every call: without hooks no lock is taken.
std::atomic<bool> any_layout_hooks = false;

}  // namespace

void set_layout_hook(const std::string& op, LayoutFlowRule rule) {
  if (!find_op(op)) throw UsageError("there is no operator \"" + op + "\"");
  layout_hooks().set(op, std::move(rule));
  any_layout_hooks.store(true, std::memory_order_release);
}

void reset_layout_hook(const std::string& op) { layout_hooks().remove(op); }

std::shared_ptr<const LayoutFlowRule> layout_flow_rule(const OpDef& op) {
  if (any_layout_hooks.load(std::memory_order_acquire))
    if (auto hook = layout_hooks().find(op.name)) return hook;
  // Rules of blocks live as long as the process: nothing is owned.
  return {std::shared_ptr<const LayoutFlowRule>(), op.rules.get<LayoutFlowRule>()};
}

}  // namespace baton
