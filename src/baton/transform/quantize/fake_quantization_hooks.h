#pragma once
// Rules of FakeQuantizationToInteger that users register from Python: TVM's attribute
// FTVMFakeQuantizationToInteger. A hook overrides the rule in the operator's block.
#include <memory>
#include <string>

#include "baton/ir/op.h"
#include "baton/ir/rules/fake_quantization_rule.h"

namespace baton {

/// Registers `rule`. UsageError when there is no operator of that name.
void set_fake_quantization_hook(const std::string& op, FakeQuantizationRule rule);
/// Removes the hook: the operator's own rule applies again.
void reset_fake_quantization_hook(const std::string& op);
/// The hook, else the rule in the operator's block; null when there is neither.
std::shared_ptr<const FakeQuantizationRule> fake_quantization_rule(const OpDef& op);

}  // namespace baton
