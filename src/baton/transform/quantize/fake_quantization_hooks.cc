#include "baton/transform/quantize/fake_quantization_hooks.h"

#include <utility>

#include "baton/transform/rule_hooks.h"

namespace baton {

void set_fake_quantization_hook(const std::string& op, FakeQuantizationRule rule) {
  RuleHooks<FakeQuantizationRule>::all().set(op, std::move(rule));
}

void reset_fake_quantization_hook(const std::string& op) { RuleHooks<FakeQuantizationRule>::all().reset(op); }

std::shared_ptr<const FakeQuantizationRule> fake_quantization_rule(const OpDef& op) {
  return RuleHooks<FakeQuantizationRule>::all().rule_of(op);
}

}  // namespace baton
