#include "baton/ir/rules/mixed_precision_rule.h"

#include "baton/ir/op.h"
#include "baton/support/registry.h"

namespace baton {

namespace {

constexpr int kLevelOfBlocks = 10;

struct Replacement {
  int level;
  MixedPrecisionFunction rule;
};

// Rules that override those of operator blocks. Never destroyed: they may be Python objects.
Registry<Replacement, const OpDef*>& replacements() {
  static auto& all = *new Registry<Replacement, const OpDef*>;
  return all;
}

}  // namespace

void register_mixed_precision(const std::string& name, MixedPrecisionFunction rule, int level) {
  const OpDef* op = find_op(name);
  if (!op) throw UsageError("there is no operator " + name);
  const auto outranks = [&](int present) {
    if (level == present)
      throw UsageError("the mixed precision of " + name + " is already registered with level " +
                       std::to_string(level) + "; give a higher level to replace it");
    return level > present;
  };
  const bool replaced = replacements().find(op) != nullptr;
  if (!replaced && op->rules.get<MixedPrecision>() && !outranks(kLevelOfBlocks)) return;
  replacements().set_if(op, Replacement{level, std::move(rule)},
                        [&](const Replacement& present) { return outranks(present.level); });
}

std::optional<MixedPrecisionRule> mixed_precision_of(const CallNode& call, DType type) {
  if (!call.op()) return std::nullopt;
  if (const auto replacement = replacements().find(call.op())) return replacement->rule(Expr(&call), type);
  const auto* own = call.op()->rules.get<MixedPrecision>();
  return own ? std::optional(MixedPrecisionRule{*own, type, type}) : std::nullopt;
}

}  // namespace baton
