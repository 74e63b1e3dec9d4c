#include "baton/transform/quantize/fake_quantization_hooks.h"

#include <atomic>
#include <utility>

#include "baton/support/error.h"
#include "baton/support/registry.h"

namespace baton {

namespace {

// Never destroyed: hooks hold Python functions, and the interpreter may be gone at process exit.
Registry<FakeQuantizationRule, std::string>& fake_quantization_hooks() {
  static auto& all = *new Registry<FakeQuantizationRule, std::string>;
  return all;
}

// Passes ask for every call: without hooks no lock is taken.
std::atomic<bool> any_fake_quantization_hooks = false;

}  // namespace

void set_fake_quantization_hook(const std::string& op, FakeQuantizationRule rule) {
  if (!find_op(op)) throw UsageError("there is no operator \"" + op + "\"");
  fake_quantization_hooks().set(op, std::move(rule));
  any_fake_quantization_hooks.store(true, std::memory_order_release);
}

void reset_fake_quantization_hook(const std::string& op) { fake_quantization_hooks().remove(op); }

std::shared_ptr<const FakeQuantizationRule> fake_quantization_rule(const OpDef& op) {
  if (any_fake_quantization_hooks.load(std::memory_order_acquire))
    if (auto hook = fake_quantization_hooks().find(op.name)) return hook;
  // Rules of blocks live as long as the process: nothing is owned.
  return {std::shared_ptr<const FakeQuantizationRule>(), op.rules.get<FakeQuantizationRule>()};
}

}  // namespace baton
