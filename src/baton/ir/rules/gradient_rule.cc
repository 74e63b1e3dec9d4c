#include "baton/ir/rules/gradient_rule.h"

#include <unordered_map>

#include "baton/ir/op.h"
#include "baton/support/error.h"

namespace baton {

namespace {

// Rules are never removed, so pointers to them stay valid.
std::unordered_map<const OpDef*, std::vector<std::unique_ptr<GradientRule>>>& registered() {
  static std::unordered_map<const OpDef*, std::vector<std::unique_ptr<GradientRule>>> rules;
  return rules;
}

}  // namespace

const GradientRule* gradient_rule(const OpDef& op) {
  const auto at = registered().find(&op);
  return at == registered().end() ? op.rules.get<GradientRule>() : at->second.back().get();
}

void register_gradient(const std::string& op, GradientRule rule) {
  const OpDef* def = find_op(op);
  if (!def) throw UsageError("there is no operator " + op + " to register a gradient for");
  registered()[def].push_back(std::make_unique<GradientRule>(std::move(rule)));
}

}  // namespace baton
