#include "baton/ir/rules/mixed_precision_rule.h"

#include <map>
#include <mutex>

#include "baton/ir/op.h"

namespace baton {

namespace {

constexpr int kLevelOfBlocks = 10;

struct Replacement {
  int level;
  MixedPrecisionFunction rule;
};

// Rules that replace those of blocks; Python may add to them from any thread.
struct Replacements {
  std::mutex mutex;
  std::map<const OpDef*, Replacement> by_operator;
};

Replacements& replacements() {
  static Replacements all;
  return all;
}

}  // namespace

void register_mixed_precision(const std::string& name, MixedPrecisionFunction rule, int level) {
  const OpDef* op = find_op(name);
  if (!op) throw UsageError("there is no operator " + name);
  const std::lock_guard lock(replacements().mutex);
  const auto at = replacements().by_operator.find(op);
  const bool replaced = at != replacements().by_operator.end();
  if (replaced || op->rules.get<MixedPrecision>()) {
    const int present = replaced ? at->second.level : kLevelOfBlocks;
    if (level < present) return;
    if (level == present)
      throw UsageError("the mixed precision of " + name + " is already registered with level " +
                       std::to_string(level) + "; give a higher level to replace it");
  }
  replacements().by_operator.insert_or_assign(op, Replacement{level, std::move(rule)});
}

std::optional<MixedPrecisionRule> mixed_precision_of(const CallNode& call, DType type) {
  if (!call.op()) return std::nullopt;
  MixedPrecisionFunction rule;
  {
    const std::lock_guard lock(replacements().mutex);
    const auto at = replacements().by_operator.find(call.op());
    if (at != replacements().by_operator.end()) rule = at->second.rule;
  }
  if (rule) return rule(Expr(&call), type);  // without the lock: it may be Python's
  const auto* own = call.op()->rules.get<MixedPrecision>();
  return own ? std::optional(MixedPrecisionRule{*own, type, type}) : std::nullopt;
}

}  // namespace baton
