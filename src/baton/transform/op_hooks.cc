#include "baton/transform/op_hooks.h"

#include <algorithm>
#include <utility>

#include "baton/support/error.h"
#include "baton/support/registry.h"

namespace baton {

namespace {

// Never destroyed: hooks hold Python functions, and the interpreter may be gone at process exit.
Registry<OpHook, std::pair<OpQuestion, std::string>>& hooks() {
  static auto& all = *new Registry<OpHook, std::pair<OpQuestion, std::string>>;
  return all;
}

}  // namespace

OpQuestion op_question(const std::string& name) {
  if (name == "FTVMLegalize") return OpQuestion::kLegalize;
  if (name == "FTVMQnnLegalize") return OpQuestion::kQnnLegalize;
  if (name == "FTVMQnnCanonicalize") return OpQuestion::kQnnCanonicalize;
  if (name == "FTVMAlterOpLayout") return OpQuestion::kAlterOpLayout;
  if (name == "FTVMConvertOpLayout") return OpQuestion::kConvertOpLayout;
  throw UsageError("no pass asks operators for " + name);
}

void set_op_hook(const std::string& op, OpQuestion question, OpHook hook) {
  if (!find_op(op)) throw UsageError("there is no operator \"" + op + "\"");
  hooks().set({question, op}, std::move(hook));
}

void reset_op_hook(const std::string& op, OpQuestion question) { hooks().remove({question, op}); }

std::shared_ptr<const OpHook> op_hook(const OpDef& op, OpQuestion question) {
  return hooks().find(std::pair(question, op.name));
}

bool has_op_hooks(OpQuestion question) {
  const auto keys = hooks().keys();
  return std::any_of(keys.begin(), keys.end(), [&](const auto& key) { return key.first == question; });
}

}  // namespace baton
