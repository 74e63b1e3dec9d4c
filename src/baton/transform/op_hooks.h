#pragma once
// What users answer, in Python, where passes ask operators something: TVM's attributes FTVMLegalize,
// FTVMAlterOpLayout, .. An answer takes the place of the rule that the operator's own block has.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/ir/op.h"

namespace baton {

enum class OpQuestion : uint8_t {
  kLegalize,
  kQnnLegalize,
  kQnnCanonicalize,
  kAlterOpLayout,
  kConvertOpLayout
};

/// What the user is asked with: the call as it is in the program (typed), its arguments as they are now, and
/// for kConvertOpLayout the layouts asked for.
struct OpQuery {
  const CallNode& call;
  const std::vector<Expr>& args;
  std::vector<std::string> desired = {};
};

/// What takes the call's place; null: it stays. An empty function: it always stays.
using OpHook = std::function<Expr(const OpQuery&)>;

/// The question that TVM calls "FTVMLegalize", "FTVMQnnLegalize", "FTVMQnnCanonicalize", "FTVMAlterOpLayout"
/// or "FTVMConvertOpLayout"; UsageError for other names.
OpQuestion op_question(const std::string& name);

/// From now on `hook` is asked. UsageError when there is no operator of that name.
void set_op_hook(const std::string& op, OpQuestion question, OpHook hook);
/// The operator's own rule is asked again.
void reset_op_hook(const std::string& op, OpQuestion question);
/// Null when there is none: the operator's own rule is to be asked.
std::shared_ptr<const OpHook> op_hook(const OpDef& op, OpQuestion question);
/// Whether any operator has one for this question.
bool has_op_hooks(OpQuestion question);

}  // namespace baton
