#include "baton/transform/op_hooks.h"

#include <map>
#include <mutex>

#include "baton/support/error.h"

namespace baton {

namespace {

struct Hooks {
  std::mutex mutex;
  std::map<std::pair<OpQuestion, std::string>, std::shared_ptr<const OpHook>> by_op;
};

// Never destroyed: hooks hold Python functions, and Python may be gone when the process ends.
Hooks& hooks() {
  static Hooks& all = *new Hooks;
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
  const std::lock_guard lock(hooks().mutex);
  hooks().by_op[{question, op}] = std::make_shared<const OpHook>(std::move(hook));
}

void reset_op_hook(const std::string& op, OpQuestion question) {
  const std::lock_guard lock(hooks().mutex);
  hooks().by_op.erase({question, op});
}

std::shared_ptr<const OpHook> op_hook(const OpDef& op, OpQuestion question) {
  const std::lock_guard lock(hooks().mutex);
  const auto at = hooks().by_op.find({question, op.name});
  return at == hooks().by_op.end() ? nullptr : at->second;
}

bool has_op_hooks(OpQuestion question) {
  const std::lock_guard lock(hooks().mutex);
  const auto at = hooks().by_op.lower_bound({question, ""});
  return at != hooks().by_op.end() && at->first.first == question;
}

}  // namespace baton
