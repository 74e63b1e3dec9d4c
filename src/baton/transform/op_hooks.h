#pragma once
// Per-operator hooks that users register from Python: TVM's attributes FTVMLegalize, FTVMAlterOpLayout, ... A
// hook overrides the rule in the operator's block.
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

/// The arguments of a hook: the original call (typed), its rewritten arguments, and for kConvertOpLayout the
/// requested layouts.
struct OpQuery {
  const CallNode& call;
  const std::vector<Expr>& args;
  std::vector<std::string> desired = {};
};

/// Returns the replacement; null keeps the call. An empty function always keeps it.
using OpHook = std::function<Expr(const OpQuery&)>;

/// The OpQuestion for TVM's name "FTVMLegalize", "FTVMQnnLegalize", "FTVMQnnCanonicalize",
/// "FTVMAlterOpLayout" or "FTVMConvertOpLayout"; UsageError for other names.
OpQuestion op_question(const std::string& name);

/// Registers `hook`. UsageError when there is no operator of that name.
void set_op_hook(const std::string& op, OpQuestion question, OpHook hook);
/// Removes the hook: the operator's own rule applies again.
void reset_op_hook(const std::string& op, OpQuestion question);
/// The hook; null when there is none and the operator's own rule applies.
std::shared_ptr<const OpHook> op_hook(const OpDef& op, OpQuestion question);
/// Whether any operator has a hook for this question.
bool has_op_hooks(OpQuestion question);

}  // namespace baton
