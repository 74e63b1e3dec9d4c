#pragma once
// Rules of one kind that users register from Python and that override those in the operators' blocks. For .cc
// files of transform/ only.
#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "baton/ir/op.h"
#include "baton/support/error.h"
#include "baton/support/registry.h"

namespace baton {

/// Thread safe. Instances are never destroyed: hooks hold Python functions, and the interpreter may be gone
/// at process exit.
template <class Rule>
class RuleHooks {
 public:
  static RuleHooks& all() {
    static auto& hooks = *new RuleHooks;
    return hooks;
  }

  /// UsageError when there is no operator of that name.
  void set(const std::string& op, Rule rule) {
    if (!find_op(op)) throw UsageError("there is no operator \"" + op + "\"");
    hooks_.set(op, std::move(rule));
    any_.store(true, std::memory_order_release);
  }

  void reset(const std::string& op) { hooks_.remove(op); }

  /// The hook, else the rule in the operator's block; null when there is neither.
  std::shared_ptr<const Rule> rule_of(const OpDef& op) const {
    if (any_.load(std::memory_order_acquire))
      if (auto hook = hooks_.find(op.name)) return hook;
    // Rules of blocks live as long as the process: nothing is owned.
    return {std::shared_ptr<const Rule>(), op.rules.get<Rule>()};
  }

 private:
  Registry<Rule> hooks_;
  std::atomic<bool> any_ = false;  // passes ask for every call: without hooks no lock is taken
};

}  // namespace baton
